print "never
