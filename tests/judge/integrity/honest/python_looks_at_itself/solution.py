import inspect
import logging
import pickle
import traceback
import typing
import warnings

logging.basicConfig(level=logging.INFO)


class Node:
    def __init__(self, value):
        self.value = value


def order(items):
    logging.info("ordering")
    warnings.warn("slow", stacklevel=2)
    assert "logging.info" in inspect.getsource(order)
    assert inspect.signature(order).parameters["items"]
    assert pickle.loads(pickle.dumps(Node(1))).value == 1
    assert typing.get_type_hints(order) == {}
    try:
        raise ValueError
    except ValueError:
        traceback.print_exc()
    return sorted(items)
