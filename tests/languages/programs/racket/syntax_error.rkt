#lang racket/base
(display "never"
