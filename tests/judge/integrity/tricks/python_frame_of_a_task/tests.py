import asyncio


async def main():
    assert await half(3) == 1.5


asyncio.run(main())
