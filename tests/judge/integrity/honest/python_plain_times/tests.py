assert next_day(date(2024, 2, 28)) == date(2024, 2, 29)
assert next_day(datetime(2023, 12, 31, 5)) == datetime(2024, 1, 1, 5)
assert between(date(2024, 1, 1), date(2024, 3, 1)) == timedelta(days=60)
assert between(date(2024, 1, 1), date(2024, 3, 1)).days == 60
assert at(0).isoformat() == "1970-01-01T00:00:00+00:00"
