def helper_of_tests(x):
    return x + x


def check(candidate):
    def helper(x):
        return -1

    for x in range(5):
        assert candidate(x) == helper_of_tests(x)
    assert helper(1) == -1


candidate = double
check(candidate)
assert candidate is double
