var number = 0
while true { number = (number + 1) % 7 }
