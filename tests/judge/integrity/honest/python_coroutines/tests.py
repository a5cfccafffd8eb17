import asyncio

assert asyncio.run(doubled(2)) == 4
assert asyncio.run(several([1, 2])) == [2, 4]


async def main():
    assert [i async for i in stream(3)] == [0, 1, 2]
    async with Gate() as state:
        assert state == "open"
    try:
        await failing()
    except ValueError as error:
        return str(error)


assert asyncio.run(main()) == "no"
assert asyncio.iscoroutinefunction(doubled)
