import unittest
from unittest.mock import MagicMock, patch


class TestPatched(unittest.TestCase):
    def setUp(self):
        self.values = [4]

    @patch("random.randint", return_value=4)
    def test_roll(self, randint):
        self.assertIn(rolled(), self.values)
        randint.assert_called_once_with(1, 6)

    @patch("subprocess.check_output", MagicMock(return_value="a b\n"))
    def test_list(self):
        self.assertEqual(listed("/"), ["a", "b"])
