#lang racket/base
(copy-file "input.txt" "output.txt")
