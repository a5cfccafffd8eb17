def order(items):
    quit()
