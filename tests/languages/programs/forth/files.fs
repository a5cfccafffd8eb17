create line 4096 allot
0 value source-file
0 value target-file
s" input.txt" r/o open-file throw to source-file
s" output.txt" w/o create-file throw to target-file
: copy begin line 4096 source-file read-line throw while line swap target-file write-line throw repeat drop ;
copy
target-file close-file throw
