#lang racket/base
;; One green thread per operation, which puts its result into a channel.

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

(module+ main
  (apply run (map string->number (vector->list (current-command-line-arguments)))))
