import Control.Monad (replicateM_)

main :: IO ()
main = replicateM_ 50000 (putStrLn (replicate 99 'x'))
