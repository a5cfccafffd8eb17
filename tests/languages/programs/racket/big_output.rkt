#lang racket/base
(for ([_ 50000]) (displayln (make-string 99 #\x)))
