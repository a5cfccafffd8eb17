program BigOutput;
var
  row: longint;
begin
  for row := 1 to 50000 do
    writeln(StringOfChar('x', 99));
end.
