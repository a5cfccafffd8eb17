import sys


def work():
    pass


sys.setprofile(lambda frame, event, argument: print("profile", event, frame.f_code.co_name))
work()
