import asyncio


async def doubled(x):
    await asyncio.sleep(0)
    return x * 2


async def several(items):
    return await asyncio.gather(*(doubled(item) for item in items))


async def stream(n):
    for i in range(n):
        yield i


class Gate:
    async def __aenter__(self):
        return "open"

    async def __aexit__(self, *_):
        return False


async def failing():
    raise ValueError("no")
