import atexit


def last_words(word):
    print(word, globals().get("__file__"), __name__)


def fails():
    raise ValueError("in atexit")


for word in ("registered first", "second"):
    atexit.register(last_words, word)
atexit.register(fails)
atexit.register(atexit.register, last_words, "registered at exit")
print("end of main")
