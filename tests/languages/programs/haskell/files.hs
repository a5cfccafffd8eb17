main :: IO ()
main = readFile "input.txt" >>= writeFile "output.txt"
