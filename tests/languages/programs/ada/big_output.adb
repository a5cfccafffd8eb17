with Ada.Text_IO; use Ada.Text_IO;

procedure Main is
   Line : constant String (1 .. 99) := (others => 'x');
begin
   for Row in 1 .. 50_000 loop
      Put_Line (Line);
   end loop;
end Main;
