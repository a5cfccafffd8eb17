import unittest


class TestOrder(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(order([3, 1, 2]), [1, 2, 3])
