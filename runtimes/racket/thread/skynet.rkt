#lang racket/base
;; One green thread per node of a tree: a node gets the sums of its ten children from a channel.

;; Puts the sum of its leaves into the channel `parent`.
(define (node first leaves parent)
  (cond
    [(= leaves 1) (channel-put parent first)]
    [else
     (define size (quotient leaves 10))
     (define sums (make-channel))
     (for ([i (in-range 10)])
       (thread (lambda () (node (+ first (* i size)) size sums))))
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

(module+ main
  (apply run (map string->number (vector->list (current-command-line-arguments)))))
