program Endless;
begin
  while true do;
end.
