assert (double([1, 2]) == np.array([2, 4])).all()
assert np.allclose(double([0.5]), [1.0])
assert double([1])[0] == 2
assert double([1]).tolist() == [2]
assert abs(double([1.5])[0] - 3) < 1e-9
