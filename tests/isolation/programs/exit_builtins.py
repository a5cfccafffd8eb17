import builtins

print(sorted(name for name in ("exit", "quit", "copyright", "credits", "license", "help", "_") if hasattr(builtins, name)))
print(exit)
quit(5)
