do
loop
