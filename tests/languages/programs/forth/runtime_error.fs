: failing 1 0 / . ;
failing
