#eval (List.range 50000).forM fun _ => IO.println (String.mk (List.replicate 99 'x'))
