from datetime import date, datetime, timedelta, timezone


def next_day(day):
    return day + timedelta(days=1)


def between(a, b):
    return b - a


def at(stamp):
    return datetime.fromtimestamp(stamp, tz=timezone.utc)
