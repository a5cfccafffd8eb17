#: {"since": [3, 11]}
def fail(number):
    error = ValueError(number)
    error.add_note(f"note of {number}\nsecond line")
    raise error


found = []
for number in range(3):
    try:
        fail(number)
    except ValueError as error:
        found.append(error)
try:
    raise TypeError("cause")
except TypeError as cause:
    raise ExceptionGroup("several", [*found, ExceptionGroup("nested", [OSError(2, "gone", "file")])]) from cause
