program Files;
var
  source, target: text;
  line: string;
begin
  assign(source, 'input.txt');
  reset(source);
  assign(target, 'output.txt');
  rewrite(target);
  while not eof(source) do
  begin
    readln(source, line);
    writeln(target, line);
  end;
  close(target);
end.
