puts("never"
