while true:
  discard
