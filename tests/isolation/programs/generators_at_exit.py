def numbers():
    try:
        yield 1
        yield 2
    finally:
        print("generator closed")


async def coroutine():
    pass


running = numbers()
print(next(running))
coroutine()
