import concurrent.futures


def double(number):
    return number * 2


if __name__ == "__main__":
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        print(list(pool.map(double, range(5))))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(list(pool.map(double, range(5))))
    left_open = concurrent.futures.ThreadPoolExecutor(1)
    left_open.submit(print, "done before the exit")
