from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

Pair = namedtuple("Pair", "a b")


class Color(IntEnum):
    RED = 1


class Stack(list):
    def push(self, item):
        self.append(item)


def pile():
    stack = Stack()
    stack.push(1)
    return stack
