line = repmat("x", 1, 99);
for row = 1:50000
  puts([line "\n"]);
end
