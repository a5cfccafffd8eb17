with Ada.Directories;

procedure Main is
begin
   Ada.Directories.Copy_File ("input.txt", "output.txt");
end Main;
