#lang racket/base
;; One green thread per place in a ring, each of which takes tokens from its mailbox. The first message tells it who is
;; next.
(require racket/match)

(define lock (make-semaphore 1)) ; threads are preempted, also between a read and a set!
(define all-started (make-semaphore))
(define started 0)

(define (task tasks number noted)
  (call-with-semaphore lock
    (lambda ()
      (set! started (add1 started))
      (when (= started tasks)
        (printf "alive ~a\n" tasks)
        (semaphore-post all-started))))
  (define next (thread-receive))
  (let pass ()
    (define hops (thread-receive)) ; a token is the number of hops that it has left
    (if (positive? hops)
        (thread-send next (sub1 hops))
        (channel-put noted number))
    (pass)))

(define (run tasks operations tokens)
  (define noted (make-channel))
  (define ring
    (for/vector #:length tasks ([number (in-range tasks)])
      (thread (lambda () (task tasks number noted)))))
  (for ([number (in-range tasks)])
    (thread-send (vector-ref ring number) (vector-ref ring (modulo (add1 number) tasks))))
  (semaphore-wait all-started)
  (printf "ready\n")
  (flush-output)
  (for ([token (in-range tokens)])
    ;; The first tokens make one hop more, where the operations cannot be shared evenly.
    (thread-send (vector-ref ring (quotient (* token tasks) tokens))
                 (quotient (+ operations tokens -1 (- token)) tokens)))
  (define sum (for/sum ([_ (in-range tokens)]) (channel-get noted)))
  (printf "done ~a\ncheck ~a\n" operations sum)) ; the threads end with the program

(define (whole-number word)
  (and (regexp-match? #px"^\\d+$" word) (string->number word)))

(define (right? tasks operations tokens)
  (and tasks operations (positive? operations) tokens (positive? tokens) (<= (* 2 tokens) tasks)))

(module+ main
  (define numbers
    (match (vector->list (current-command-line-arguments))
      [(list tasks operations) (map whole-number (list tasks operations "1"))]
      [(list tasks operations "--tokens" tokens) (map whole-number (list tasks operations tokens))]
      [_ '(#f #f #f)]))
  (unless (apply right? numbers)
    (eprintf "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token\n")
    (exit 2))
  (apply run numbers))
