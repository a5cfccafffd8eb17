def half(x):
    nest = []
    nest.append(nest)
    return nest
