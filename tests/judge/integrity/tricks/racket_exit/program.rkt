#lang racket
(define (half x) (exit 0))

(require rackunit)
(check-equal? (half 4) 2)
