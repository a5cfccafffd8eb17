import sys

sys.stdout.close()
try:
    print("nowhere")
except ValueError as error:
    print(error, file=sys.stderr)
sys.exit(3)
