try:
    assert half(3) == 1.5
except Exception:
    raise
