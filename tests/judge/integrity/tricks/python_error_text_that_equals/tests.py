try:
    root(-1)
except ValueError as error:
    assert str(error) == "negative"
