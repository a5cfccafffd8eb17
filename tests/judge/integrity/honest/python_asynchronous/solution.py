import asyncio


async def wait(items):
    await asyncio.sleep(0)
    return sorted(items)


def order(items):
    return asyncio.run(wait(items))
