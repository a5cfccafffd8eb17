import pytest


def test_negative():
    with pytest.raises(ValueError):
        root(-1)
