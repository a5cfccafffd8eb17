def inner(value):
    return 1 / value


def outer():
    try:
        inner(0)
    except ZeroDivisionError as error:
        raise ValueError("not a good value") from error


try:
    outer()
except ValueError as error:
    error.args = (*error.args, "ünïcode ✓")
    raise KeyError("while another was handled")  # noqa: B904
