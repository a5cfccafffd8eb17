import pytest


@pytest.mark.parametrize("items", [[2, 1], [1, 2]])
def test_order(items):
    assert order(items) == [1, 2]


def test_files(tmp_path, capsys):
    print("hello")
    assert capsys.readouterr().out == "hello\n"
    (tmp_path / "a").write_text("b")


def test_raises():
    with pytest.raises(TypeError):
        order(None)


@pytest.mark.skip
def test_not_yet():
    assert False
