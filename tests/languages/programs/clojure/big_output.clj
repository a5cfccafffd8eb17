(dotimes [_ 50000] (println (apply str (repeat 99 "x"))))
