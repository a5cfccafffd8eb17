"""One file per kernel feature: a few functions each, standard library and ctypes only."""
