create table lines(line);
.mode ascii
.separator "|" "\n"
.import input.txt lines
.mode list
.output output.txt
select line from lines;
