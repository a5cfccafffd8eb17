import numpy as np

assert (double([1, 2]) == np.array([2, 4])).all()
assert np.array_equal(double([1, 2]), [2, 4])
