import multiprocessing
import sys


class Own:
    def __init__(self, value):
        self.value = value


def work(connection, own):
    connection.send((__name__, type(own).__module__, own.value, sys.argv))


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs, Own(5)))
    process.start()
    print(ours.recv())
    process.join()
    print(process.exitcode, multiprocessing.get_start_method())
