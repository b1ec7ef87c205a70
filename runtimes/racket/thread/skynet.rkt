#lang racket/base
;; One green thread per node of a tree, with a channel for the sums of its ten children.
(require racket/match)

;; Puts the sum of so many leaves from a number on.
(define (node first leaves parent)
  (cond
    [(= leaves 1) (channel-put parent first)]
    [else
     (define share (quotient leaves 10))
     (define sums (make-channel))
     (for ([i (in-range 10)])
       (thread (lambda () (node (+ first (* i share)) share sums))))
     (channel-put parent (for/sum ([_ (in-range 10)]) (channel-get sums)))]))

(define (run tasks operations)
  (define results (make-channel))
  (printf "ready\n")
  (flush-output)
  (define sum
    (for/sum ([_ (in-range (quotient operations tasks))])
      (thread (lambda () (node 0 tasks results)))
      (channel-get results)))
  (printf "done ~a\ncheck ~a\n" operations sum))

(define (whole-number word)
  (and (regexp-match? #px"^\\d+$" word) (string->number word)))

(define (power-of-ten? number)
  (regexp-match? #px"^10*$" (number->string number)))

(module+ main
  (match (map whole-number (vector->list (current-command-line-arguments)))
    [(list (? exact-positive-integer? tasks) (? exact-positive-integer? operations))
     #:when (and (power-of-ten? tasks) (zero? (modulo operations tasks)))
     (run tasks operations)]
    [_
     (eprintf "usage: skynet <tasks> <operations>: tasks a power of ten, operations a multiple of them\n")
     (exit 2)]))
