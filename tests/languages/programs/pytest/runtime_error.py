def test_boom():
    raise RuntimeError("boom")
