"""What every request passes before a route: origins, keys, rate limits, and compression of responses."""
