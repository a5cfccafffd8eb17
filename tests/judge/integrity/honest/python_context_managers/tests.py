account = Account(10)
with account as same:
    same.pay(4)
assert account.balance == 6 and account.log == ["open", "close"]
with account:
    raise KeyError("swallowed")
assert account.log[-1] == "KeyError"
try:
    account.pay(100)
except InsufficientFunds as error:
    assert error.amount == 100 and str(error) == "cannot pay 100"
else:
    raise AssertionError("it was paid")
log = []
with logged(log) as size:
    assert size == 1
assert log == ["in", "out"]
