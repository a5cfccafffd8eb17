car = build("red")
assert car == Car(Color.RED, Place(1, 2), ["new"])
assert car.color is Color.RED and car.color.value == "red" and car.color.name == "RED"
assert moved(car, 5).place == (5, 0) and moved(car, 5).place.x == 5
assert asdict(car) == {"color": Color.RED, "place": (1, 2), "tags": ["new"]}
assert (Right.READ | Right.WRITE) & Right.WRITE == Right.WRITE
assert [color.name for color in Color] == ["RED", "BLUE"]
assert movie("m") == {"name": "m"}
try:
    car.color = Color.BLUE
except AttributeError:
    pass
else:
    raise AssertionError("a frozen car was painted")
