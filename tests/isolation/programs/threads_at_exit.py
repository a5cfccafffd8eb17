import threading
import time


def work(name, wait_s):
    time.sleep(wait_s)
    print(name, "done")


threading.Thread(target=work, args=("joined at exit", 0.1)).start()
threading.Thread(target=work, args=("never seen", 60), daemon=True).start()
print("main ends")
