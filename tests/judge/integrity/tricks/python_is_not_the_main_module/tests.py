def check():
    assert half(3) == 1.5


if __name__ == "__main__":
    check()
