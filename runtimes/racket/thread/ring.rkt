#lang racket/base
;; A ring of green threads: each receives tokens in its mailbox and sends them to the next thread, which its first
;; message names. A token is the number of hops that it has left.
(require racket/match)

(define lock (make-semaphore 1)) ; threads are preempted, even between a read and a set!
(define all-started (make-semaphore))
(define started 0)

(define (task tasks number results)
  (call-with-semaphore lock
    (lambda ()
      (set! started (add1 started))
      (when (= started tasks)
        (printf "alive ~a\n" tasks)
        (semaphore-post all-started))))
  (define next (thread-receive))
  (let pass ()
    (define hops (thread-receive))
    (if (positive? hops)
        (thread-send next (sub1 hops))
        (channel-put results number))
    (pass)))

(define (run tasks operations tokens)
  (define results (make-channel))
  (define ring
    (for/vector #:length tasks ([number (in-range tasks)])
      (thread (lambda () (task tasks number results)))))
  (for ([number (in-range tasks)])
    (thread-send (vector-ref ring number) (vector-ref ring (modulo (add1 number) tasks))))
  (semaphore-wait all-started)
  (printf "ready\n")
  (flush-output)
  (for ([token (in-range tokens)])
    (define hops (+ (quotient operations tokens) (if (< token (remainder operations tokens)) 1 0)))
    (thread-send (vector-ref ring (quotient (* token tasks) tokens)) hops))
  (define sum (for/sum ([_ (in-range tokens)]) (channel-get results)))
  (printf "done ~a\ncheck ~a\n" operations sum)) ; the threads end with the program

(module+ main
  (match (current-command-line-arguments)
    [(vector tasks operations)
     (run (string->number tasks) (string->number operations) 1)]
    [(vector tasks operations "--tokens" tokens)
     (run (string->number tasks) (string->number operations) (string->number tokens))]))
