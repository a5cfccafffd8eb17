class Exit(SystemExit):
    code = "said by the class"


print("before", end="")
raise Exit("unused")
