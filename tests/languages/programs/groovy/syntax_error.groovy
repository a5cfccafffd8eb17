println("never"
