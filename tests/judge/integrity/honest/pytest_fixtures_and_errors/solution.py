import json
from pathlib import Path


class NotFound(Exception):
    pass


def saved(path, data):
    Path(path).write_text(json.dumps(data))


def loaded(path):
    if not Path(path).exists():
        raise NotFound(f"no file {path}")
    return json.loads(Path(path).read_text())
