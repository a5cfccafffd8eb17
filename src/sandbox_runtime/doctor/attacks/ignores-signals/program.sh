trap '' TERM INT HUP QUIT USR1 USR2 ALRM PIPE
(while true; do sleep 1; done) &
(while true; do sleep 1; done) &
while true; do sleep 1; done
