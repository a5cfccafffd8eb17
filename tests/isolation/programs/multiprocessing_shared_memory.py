import multiprocessing
from multiprocessing import shared_memory


def fill(name, lock, counter):
    block = shared_memory.SharedMemory(name=name)
    with lock:
        block.buf[:5] = b"hello"
        counter.value += 1
    block.close()


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    block = shared_memory.SharedMemory(create=True, size=64)
    lock, counter = context.Lock(), context.Value("i", 1)
    process = context.Process(target=fill, args=(block.name, lock, counter))
    process.start()
    process.join()
    print(bytes(block.buf[:5]), counter.value, process.exitcode)
    block.close()
    block.unlink()
    with multiprocessing.Manager() as manager:
        shared = manager.dict(a=1)
        shared["b"] = 2
        print(dict(shared))
