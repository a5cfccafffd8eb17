for {set row 0} {$row < 50000} {incr row} { puts [string repeat x 99] }
