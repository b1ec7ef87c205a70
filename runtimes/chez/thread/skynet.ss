;;; One OS thread per node of a tree. Chez has no join: the last of a node's children to end signals a condition.

(define requested 0)
(define done 0)

(define (node first leaves)
  (if (= leaves 1)
      first
      (fork 10 first (quotient leaves 10))))

;; Starts `count` nodes of `leaves` leaves each, and returns their sum.
(define (fork count first leaves)
  (let ([lock (make-mutex)]
        [all-ended (make-condition)]
        [left count]
        [sums (make-vector count)])
    (do ([i 0 (+ i 1)]) ([= i count])
      (guard (condition [#t (give-up condition)])
        (fork-thread
          (lambda ()
            (vector-set! sums i (node (+ first (* i leaves)) leaves))
            (with-mutex lock
              (set! left (- left 1))
              (when (zero? left) (condition-signal all-ended)))))))
    (with-mutex lock
      (let wait ()
        (unless (zero? left)
          (condition-wait all-ended lock)
          (wait))))
    (fold-left + 0 (vector->list sums))))

(define (run tasks operations)
  (set! requested operations)
  (printf "ready\n")
  (flush-output-port)
  (let next ([sum 0])
    (if (< done operations)
        (let ([tree (fork 1 0 tasks)])
          (set! done (+ done tasks))
          (next (+ sum tree)))
        (printf "done ~a\ncheck ~a\n" operations sum))))

(define (give-up condition)
  (display "cannot start a tree of tasks: " (current-error-port))
  (display-condition condition (current-error-port))
  (newline (current-error-port))
  (printf "done ~a\nfailed ~a\n" done (- requested done))
  (exit 1))

(apply run (map string->number (command-line-arguments)))
