import pytest


@pytest.fixture
def data():
    return {"a": [1, 2]}


class TestFiles:
    def test_both_ways(self, tmp_path, data):
        saved(tmp_path / "x.json", data)
        assert loaded(tmp_path / "x.json") == data

    def test_missing(self):
        with pytest.raises(NotFound, match="no file nowhere"):
            loaded("nowhere")

    @pytest.mark.parametrize("value", [1.5, None, "x"])
    def test_values(self, tmp_path, value):
        saved(tmp_path / "y", value)
        assert loaded(tmp_path / "y") == value
