main :: IO ()
main = putStrLn ("never"
