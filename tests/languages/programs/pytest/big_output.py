def test_prints(capsys):
    with capsys.disabled():
        for _ in range(50_000):
            print("x" * 99)
