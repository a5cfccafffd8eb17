import contextvars
import decimal
import sys

print(decimal.getcontext(), contextvars.copy_context().items())
print(sys.float_info.max, sys.int_info, sys.hash_info.algorithm, getattr(sys, "get_int_max_str_digits", int)())
print(str(10**4000)[:5], hash(1.5), hash(None) == hash(None))
