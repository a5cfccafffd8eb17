"""The program that holds the other end of a terminal, in the box. Standard library only; runs in the guest."""
