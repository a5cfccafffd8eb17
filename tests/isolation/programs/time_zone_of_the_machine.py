import time

print(time.tzname, time.timezone, time.localtime(0)[:6], time.strftime("%c", time.gmtime(0)))
