yes "$(printf %099d 0)" | head -n 50000
