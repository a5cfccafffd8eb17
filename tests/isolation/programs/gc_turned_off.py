import gc


class Noisy:
    def __del__(self):
        print("del", gc.isenabled())


gc.disable()
loop = Noisy()
loop.self = loop
del loop
print("end of main")
