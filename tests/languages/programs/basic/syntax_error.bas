print "never
for
