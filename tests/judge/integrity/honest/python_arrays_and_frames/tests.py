import numpy as np
import pandas as pd

assert np.array_equal(scaled(np.array([[1, 2], [3, 4]])), [[2, 4], [6, 8]])
assert scaled(np.array([1.5], dtype=np.float32)).dtype == np.float32
np.testing.assert_allclose(scaled(np.array([0.1, 0.2]), factor=3), [0.3, 0.6])
assert mean(np.array([1, 2])) == 1.5
assert isinstance(mean(np.array([1, 2])), np.floating)
frame = pd.DataFrame({"name": ["a", "b", "a"], "value": [1, 2, 3]})
pd.testing.assert_frame_equal(totals(frame), pd.DataFrame({"name": ["a", "b"], "value": [4, 2]}))
assert column(frame).tolist() == [1, 2, 3]
assert column(frame).equals(pd.Series([1, 2, 3], name="value"))
