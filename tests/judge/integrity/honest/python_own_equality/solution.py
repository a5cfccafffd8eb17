class Money:
    def __init__(self, cents):
        self.cents = cents

    def __eq__(self, other):
        return self.cents == (other.cents if isinstance(other, Money) else other)

    def __sub__(self, other):
        return Money(self.cents - other)

    def __lt__(self, other):
        return self.cents < (other.cents if isinstance(other, Money) else other)
