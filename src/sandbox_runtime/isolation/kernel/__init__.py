"""One file per kernel facility: a few functions each, standard library and ctypes only."""
