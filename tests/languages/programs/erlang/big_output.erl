-module(main).
-export([main/0]).

main() ->
    Line = [lists:duplicate(99, $x), $\n],
    lists:foreach(fun(_) -> io:put_chars(Line) end, lists:seq(1, 50000)).
