import queue
import threading

local = threading.local()
local.value = "main"
found = queue.Queue()
barrier = threading.Barrier(3)


def work(number):
    local.value = number
    barrier.wait()
    found.put((number, local.value))


threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(found.queue), local.value, [thread.name for thread in threads])
