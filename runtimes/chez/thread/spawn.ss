;;; One OS thread per operation. Chez has no join: the last thread of a round to end signals a condition.

;; Starts `count` threads for the numbers from `first` on, and returns the sum of their results.
(define (run-round first count operations)
  (let ([lock (make-mutex)]
        [all-ended (make-condition)]
        [left count]
        [results (make-vector count)])
    (do ([i 0 (+ i 1)]) ([= i count])
      (guard (condition [#t (give-up first count operations condition)])
        (fork-thread
          (lambda ()
            (vector-set! results i (+ first i))
            (with-mutex lock
              (set! left (- left 1))
              (when (zero? left) (condition-signal all-ended)))))))
    (with-mutex lock
      (let wait ()
        (unless (zero? left)
          (condition-wait all-ended lock)
          (wait))))
    (fold-left + 0 (vector->list results))))

(define (run tasks operations)
  (printf "ready\n")
  (flush-output-port)
  (let next ([first 0] [sum 0])
    (if (< first operations)
        (next (+ first tasks) (+ sum (run-round first (min tasks (- operations first)) operations)))
        (printf "done ~a\ncheck ~a\n" operations sum))))

(define (give-up done tasks operations condition)
  (fprintf (current-error-port) "cannot start ~a tasks at once: " tasks)
  (display-condition condition (current-error-port))
  (newline (current-error-port))
  (printf "done ~a\nfailed ~a\n" done (- operations done))
  (exit 1))

(apply run (map string->number (command-line-arguments)))
