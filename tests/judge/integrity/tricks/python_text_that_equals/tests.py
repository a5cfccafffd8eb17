assert str(name(1)) == "one"
