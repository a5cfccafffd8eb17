def test_endless():
    while True:
        pass
