fun turn () = turn ();
turn ();
