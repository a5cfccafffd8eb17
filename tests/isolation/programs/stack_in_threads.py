import os
import threading
import traceback


def work():
    print([frame.name for frame in traceback.extract_stack()][-2:])


thread = threading.Thread(target=work)
thread.start()
thread.join()
print(threading.main_thread().name, threading.current_thread().name, threading.active_count(), len(threading.enumerate()))
print(threading.main_thread() is threading.current_thread(), threading.main_thread().ident == threading.get_ident())
print(threading.get_native_id() == os.getpid() == threading.main_thread().native_id)
