program Broken;
begin
  writeln('never'
end.
