#lang racket
(define (half x) (/ x 2))

(require rackunit)
(check-equal? (half 4) 2)
