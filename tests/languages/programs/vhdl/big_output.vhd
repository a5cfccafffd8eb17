entity tb is
end entity;

architecture big_output of tb is
begin
  process
    use std.textio.all;
    variable row : line;
    constant letters : string(1 to 99) := (others => 'x');
  begin
    for number in 1 to 50000 loop
      write(row, letters);
      writeline(output, row);
    end loop;
    wait;
  end process;
end architecture;
