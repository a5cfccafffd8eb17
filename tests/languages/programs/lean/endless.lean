partial def turn (number : Nat) : IO Unit := turn (number + 1)

#eval turn 0
