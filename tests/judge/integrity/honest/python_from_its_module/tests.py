import inspect

from __main__ import CONSTANT as constant
from __main__ import answer as imported

assert imported() == constant == 42
assert _hidden() == -42
assert answer.__doc__ == "The answer."
assert "return CONSTANT" in inspect.getsource(answer)
assert len(inspect.signature(answer).parameters) == 0
assert callable(answer) and answer.__name__ == "answer"
