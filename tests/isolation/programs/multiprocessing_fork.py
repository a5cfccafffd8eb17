import multiprocessing
import os


def square(number):
    return number * number


def fails():
    raise ValueError("in a process")


def put(found):
    found.put(("child", __name__, os.getppid() == multiprocessing.parent_process().pid))


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    with context.Pool(3) as pool:
        print(pool.map(square, range(20)))
    found = context.Queue()
    process = context.Process(target=put, args=(found,), name="named")
    process.start()
    print(found.get(timeout=20), process.name)
    process.join()
    failing = context.Process(target=fails, name="failing")
    failing.start()
    failing.join()
    print(process.exitcode, failing.exitcode, multiprocessing.current_process())
