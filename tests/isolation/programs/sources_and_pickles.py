import copy
import dataclasses
import inspect
import pickle
import sys
import typing


@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: "int | None" = None


def function(a, b=2):
    return a + b


print(inspect.getsource(function))
print(inspect.getsource(Point), inspect.getsourcefile(Point), inspect.getfile(function))
print(inspect.getsource(sys.modules["__main__"])[:12], inspect.getmodule(function))
print(pickle.loads(pickle.dumps(Point(1, 2))), Point.__module__, copy.deepcopy(Point(3)))
print(pickle.dumps(function), typing.get_type_hints(Point), function.__code__.co_filename)
