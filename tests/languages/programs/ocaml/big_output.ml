let () = for _ = 1 to 50_000 do print_endline (String.make 99 'x') done
