BEGIN { print "never"
