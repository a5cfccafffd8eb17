assert (double([1, 2]) == np.array([2, 4])).all()
