import unittest


class TestHalf(unittest.TestCase):
    def test_half(self):
        self.assertEqual(half(3), 1.5)


result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(TestHalf))
assert result.wasSuccessful()
