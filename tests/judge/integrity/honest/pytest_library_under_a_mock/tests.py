import unittest
from unittest.mock import patch


class TestLoad(unittest.TestCase):
    @patch("ctypes.CDLL")
    def test_name(self, library):
        library.return_value._name = "lib.so"
        self.assertEqual(load("lib.so"), "lib.so")
