#lang racket/base
;; One green thread per operation, and a channel for the results.
(require racket/match)

(define (run tasks operations)
  (define results (make-channel))
  (printf "ready\n")
  (flush-output)
  (define sum
    (for/fold ([sum 0]) ([first (in-range 0 operations tasks)])
      (define end (min (+ first tasks) operations))
      (for ([number (in-range first end)])
        (thread (lambda () (channel-put results number))))
      (+ sum (for/sum ([_ (in-range first end)]) (channel-get results)))))
  (printf "done ~a\ncheck ~a\n" operations sum))

(define (whole-number word)
  (and (regexp-match? #px"^\\d+$" word) (string->number word)))

(module+ main
  (match (map whole-number (vector->list (current-command-line-arguments)))
    [(list (? exact-positive-integer? tasks) (? exact-positive-integer? operations)) (run tasks operations)]
    [_
     (eprintf "usage: spawn <tasks> <operations>: whole numbers, at least one of each\n")
     (exit 2)]))
