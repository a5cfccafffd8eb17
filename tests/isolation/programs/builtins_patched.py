import builtins

said = print
builtins.print = lambda *words, **options: said("patched", *words, **options)
print("one")
builtins.open = None
builtins.len = lambda thing: 42
print(len([]))
del builtins.isinstance
raise ValueError("still told")
