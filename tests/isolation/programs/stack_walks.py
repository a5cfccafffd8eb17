import inspect
import sys
import traceback


def deep():
    traceback.print_stack(file=sys.stdout)
    print([(info.function, info.filename, info.lineno, info.code_context) for info in inspect.stack()])
    frame, names = sys._getframe(), []
    while frame:
        names.append((frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    print(names)


deep()
print(sys._getframe().f_back, sys._getframe().f_globals is globals())
print([frame.f_code.co_name for frame in sys._current_frames().values()])
print(len(traceback.extract_stack()), inspect.getmodule(sys._getframe()))
traceback.print_exc()
print(sys._getframe(1))
