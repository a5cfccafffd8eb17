entity tb is
end entity;

architecture files of tb is
begin
  process
    use std.textio.all;
    file source : text open read_mode is "input.txt";
    file target : text open write_mode is "output.txt";
    variable row : line;
  begin
    while not endfile(source) loop
      readline(source, row);
      writeline(target, row);
    end loop;
    wait;
  end process;
end architecture;
