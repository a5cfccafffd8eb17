(println "never"
