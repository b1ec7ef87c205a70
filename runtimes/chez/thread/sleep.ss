;;; One OS thread per task. Chez has no join: the last thread to end signals a condition.

(define lock (make-mutex))
(define all-ended (make-condition))
(define started 0)
(define finished 0)

(define (task tasks duration)
  (with-mutex lock
    (set! started (+ started 1))
    (when (= started tasks)
      (printf "alive ~a\n" (- started finished))
      (flush-output-port)))
  (sleep duration)
  (with-mutex lock
    (set! finished (+ finished 1))
    (when (= finished tasks) (condition-signal all-ended))))

(define (run tasks seconds)
  (let ([duration (make-time 'time-duration 0 seconds)])
    (do ([i 0 (+ i 1)]) ([= i tasks])
      (guard (condition [#t (give-up tasks i condition)])
        (fork-thread (lambda () (task tasks duration))))))
  (with-mutex lock
    (let wait ()
      (when (< finished tasks)
        (condition-wait all-ended lock)
        (wait))))
  (printf "done ~a\n" finished))

(define (give-up tasks launched condition)
  (fprintf (current-error-port) "cannot start task ~a of ~a: " (+ launched 1) tasks)
  (display-condition condition (current-error-port))
  (newline (current-error-port))
  (printf "failed ~a\n" (- tasks launched))
  (exit 1))

(apply run (map string->number (command-line-arguments)))
