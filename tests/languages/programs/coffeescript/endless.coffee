while true
  null
