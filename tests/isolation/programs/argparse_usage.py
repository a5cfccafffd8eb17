#: {"argv": ["--number", "text"]}
import argparse

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--number", type=int)
parser.parse_args()
