entity tb is
end entity;

architecture endless of tb is
  signal clock : bit;
begin
  clock <= not clock after 1 ns;
end architecture;
