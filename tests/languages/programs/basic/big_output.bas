row$ = ""
for letter = 1 to 99
  row$ = row$ + "x"
next letter
for number = 1 to 50000
  print row$
next number
