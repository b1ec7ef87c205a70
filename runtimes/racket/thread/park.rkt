#lang racket/base
;; One green thread per task, each waiting for a message in its mailbox.

(define lock (make-semaphore 1)) ; threads are preempted, even between a read and a set!
(define started 0)
(define finished 0)

(define (task tasks)
  (call-with-semaphore lock
    (lambda ()
      (set! started (add1 started))
      (when (= started tasks)
        (printf "alive ~a\n" (- started finished))
        (flush-output))))
  (thread-receive)
  (call-with-semaphore lock
    (lambda () (set! finished (add1 finished)))))

(define (run tasks seconds)
  (define wake-at (+ (current-inexact-monotonic-milliseconds) (* 1000 seconds)))
  (define threads
    (for/list ([_ (in-range tasks)])
      (thread (lambda () (task tasks)))))
  (sleep (max 0 (/ (- wake-at (current-inexact-monotonic-milliseconds)) 1000)))
  (for ([each (in-list threads)]) (thread-send each 'wake))
  (for-each thread-wait threads)
  (printf "done ~a\n" finished))

(module+ main
  (apply run (map string->number (vector->list (current-command-line-arguments)))))
