program Failing;
var
  zero: integer;
begin
  zero := 0;
  writeln(1 div zero);
end.
