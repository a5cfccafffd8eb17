(throw (Exception. "boom"))
