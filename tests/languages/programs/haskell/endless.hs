main :: IO ()
main = mapM_ (\number -> if number < (0 :: Integer) then print number else pure ()) [0 ..]
