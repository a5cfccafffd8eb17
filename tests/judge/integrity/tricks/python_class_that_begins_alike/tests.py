assert text(3).startswith("1.5")
