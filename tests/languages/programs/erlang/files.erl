-module(main).
-export([main/0]).

main() ->
    {ok, Content} = file:read_file("input.txt"),
    ok = file:write_file("output.txt", Content).
