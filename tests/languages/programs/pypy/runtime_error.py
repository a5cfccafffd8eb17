raise SystemError("boom")
