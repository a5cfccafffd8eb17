def greet(name):
    print("Hello,", name)


def ask():
    return input("name? ").strip()
