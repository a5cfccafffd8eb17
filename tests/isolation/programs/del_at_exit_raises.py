class Bad:
    def __del__(self):
        raise ValueError("in del")


class BadRepr(Bad):
    def __repr__(self):
        raise RuntimeError("no repr")


Bad()
BadRepr()
print("end of main")
