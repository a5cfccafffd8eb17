procedure Main is
begin
   if then
end Main;
