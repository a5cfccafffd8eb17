def number : Nat := (
