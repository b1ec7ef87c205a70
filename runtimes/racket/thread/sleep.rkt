#lang racket/base
;; One green thread per task.
(require racket/match)

(define lock (make-semaphore 1)) ; threads are preempted, even between a read and a set!
(define started 0)
(define finished 0)

(define (task tasks seconds)
  (call-with-semaphore lock
    (lambda ()
      (set! started (add1 started))
      (when (= started tasks)
        (printf "alive ~a\n" (- started finished))
        (flush-output))))
  (sleep seconds)
  (call-with-semaphore lock
    (lambda () (set! finished (add1 finished)))))

(define (run tasks seconds)
  (define threads
    (for/list ([_ (in-range tasks)])
      (thread (lambda () (task tasks seconds)))))
  (for-each thread-wait threads)
  (printf "done ~a\n" finished))

(module+ main
  (match (map string->number (vector->list (current-command-line-arguments)))
    [(list (? exact-integer? tasks) (? exact-integer? seconds)) (run tasks seconds)]))
