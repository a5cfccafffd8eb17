entity tb is
end entity;

architecture failing of tb is
begin
  process
  begin
    report "boom" severity failure;
    wait;
  end process;
end architecture;
