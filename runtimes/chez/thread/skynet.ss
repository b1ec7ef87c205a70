;;; One thread of the operating system per node of a tree. Chez has no join: a condition tells a node of the last end of
;;; its children.

(define asked 0)
(define done 0)

;; The sum of so many leaves from a number on.
(define (node first leaves)
  (if (= leaves 1)
      first
      (fork 10 first (quotient leaves 10))))

;; Runs so many nodes of so many leaves each, and returns what they come to.
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
  (set! asked operations)
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
  (printf "done ~a\nfailed ~a\n" done (- asked done))
  (exit 1))

(define (power-of-ten? number)
  (or (= number 1)
      (and (> number 1) (zero? (mod number 10)) (power-of-ten? (quotient number 10)))))

(define (whole-number word)
  (let ([number (string->number word)])
    (and (fixnum? number) (>= number 0) number)))

(let ([numbers (map whole-number (command-line-arguments))])
  (unless (and (= (length numbers) 2) (for-all fixnum? numbers) (for-all positive? numbers)
               (power-of-ten? (car numbers)) (zero? (mod (cadr numbers) (car numbers))))
    (display "usage: skynet.ss <tasks> <operations>: tasks a power of ten, operations a multiple of them\n" (current-error-port))
    (exit 2))
  (apply run numbers))
