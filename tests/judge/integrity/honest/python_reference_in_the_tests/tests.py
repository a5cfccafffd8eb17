import copy
import random


def reference(r, precision=2):
    return round(4 / 3 * math.pi * r**3, precision)


inputs = [[random.Random(seed).random() * 100] for seed in range(20)] + [[2.5, 4]]
results = [volume(*copy.deepcopy(arguments)) for arguments in inputs]
assert len(results) == 21
for arguments, result in zip(inputs, results):
    expected = reference(*arguments)
    assert result == expected or abs(result - expected) < 1e-6, (arguments, result)
assert volume(r=1) == volume(1, precision=2) == 4.19
