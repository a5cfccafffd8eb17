import sys


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name, __name__, sys is not None)


zebra = Noisy("zebra")
apple = Noisy("apple")
_private = Noisy("private")
loop = Noisy("loop")
loop.self = loop
held = [Noisy("in a list")]
function = lambda inner=Noisy("default"): inner  # noqa: B008, E731
Noisy.on_class = Noisy("on the class")
del apple
print("end of main")
