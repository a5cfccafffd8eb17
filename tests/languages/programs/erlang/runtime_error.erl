-module(main).
-export([main/0]).

main() ->
    error(boom).
