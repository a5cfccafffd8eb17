do 50000
  say copies("x", 99)
end
