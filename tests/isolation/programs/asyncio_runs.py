import asyncio
import sys


async def child():
    process = await asyncio.create_subprocess_exec("sh", "-c", "cat; exit 3", stdin=-1, stdout=-1)
    print(await process.communicate(b"through a pipe"), process.returncode)


async def main():
    print(type(asyncio.get_running_loop()), asyncio.current_task().get_name())
    await asyncio.gather(child(), asyncio.to_thread(print, "in a thread"))
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    print(await reader.read())
    writer.close()
    server.close()
    asyncio.create_task(asyncio.sleep(30), name="never awaited").add_done_callback(lambda task: print(task.cancelled()))
    return 5


sys.exit(asyncio.run(main()))
