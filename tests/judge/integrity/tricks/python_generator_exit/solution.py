def half(x):
    raise GeneratorExit
