;;; One thread of the operating system per operation. Chez has no join: a condition tells of the last end of a round.

;; Runs threads for so many numbers from the first on, and returns what they come to.
(define (round-of first count operations)
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
        (next (+ first tasks) (+ sum (round-of first (min tasks (- operations first)) operations)))
        (printf "done ~a\ncheck ~a\n" operations sum))))

(define (give-up done tasks operations condition)
  (fprintf (current-error-port) "cannot start ~a tasks at once: " tasks)
  (display-condition condition (current-error-port))
  (newline (current-error-port))
  (printf "done ~a\nfailed ~a\n" done (- operations done))
  (exit 1))

(define (whole-number word)
  (let ([number (string->number word)])
    (and (fixnum? number) (>= number 0) number)))

(let ([numbers (map whole-number (command-line-arguments))])
  (unless (and (= (length numbers) 2) (for-all fixnum? numbers) (for-all positive? numbers))
    (display "usage: spawn.ss <tasks> <operations>: whole numbers, at least one of each\n" (current-error-port))
    (exit 2))
  (apply run numbers))
