import pytest

pytestmark = pytest.mark.xfail


def test_own():
    assert True


def order(items):
    return None
