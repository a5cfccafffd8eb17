import unittest


class TestRoot(unittest.TestCase):
    def test_errors(self):
        with self.assertRaises(TypeError):
            root("4")
        with self.assertRaisesRegex(ValueError, "^negative$"):
            root(-1)
        with self.assertRaises(TooSmall) as caught:
            root(0)
        self.assertEqual(caught.exception.args, ("zero", 0))
        self.assertEqual(root(4), 2)


result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(TestRoot))
assert result.wasSuccessful() and result.testsRun == 1
try:
    looked_up("x")
except LookupError as error:
    assert str(error) == "no x" and isinstance(error.__cause__, KeyError)
else:
    raise AssertionError("nothing was raised")
try:
    failing()
except AssertionError as error:
    assert str(error) == "never"
