assert np.allclose(half(np.array([3.0])), [1.5])
