def order(items):
    return sorted(items)


if __name__ == "__main__":
    print(order([2, 1]))
