#: {"env": {"TZ": "Pacific/Auckland"}}
import datetime
import time

print(time.tzname, time.timezone, time.daylight, time.localtime(0)[:6])
print(datetime.datetime.fromtimestamp(0).astimezone().isoformat(), abs(datetime.datetime.now().timestamp() - time.time()) < 5)
