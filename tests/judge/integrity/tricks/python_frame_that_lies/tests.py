import pandas as pd

assert double(pd.DataFrame({"a": [1]})).equals(pd.DataFrame({"a": [2]}))
