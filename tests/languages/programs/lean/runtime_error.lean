example : 1 + 1 = 3 := by decide
