from contextlib import contextmanager


class Account:
    def __init__(self, balance=0):
        self.balance = balance
        self.log = []

    def __enter__(self):
        self.log.append("open")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(kind.__name__ if kind else "close")
        return kind is KeyError

    def pay(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(amount)
        self.balance -= amount


class InsufficientFunds(Exception):
    def __init__(self, amount):
        super().__init__(f"cannot pay {amount}")
        self.amount = amount


@contextmanager
def logged(log):
    log.append("in")
    try:
        yield len(log)
    finally:
        log.append("out")
