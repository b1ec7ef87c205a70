;;; One OS thread per task, each waiting for a message in its mailbox. Chez has no join: the last thread to end signals
;;; a condition.

(define lock (make-mutex))
(define all-ended (make-condition))
(define started 0)
(define finished 0)

;; A mailbox receives one message.
(define-record-type mailbox
  (fields lock filled (mutable message))
  (protocol (lambda (new) (lambda () (new (make-mutex) (make-condition) #f)))))

(define (receive mailbox)
  (with-mutex (mailbox-lock mailbox)
    (let wait ()
      (or (mailbox-message mailbox)
          (begin
            (condition-wait (mailbox-filled mailbox) (mailbox-lock mailbox))
            (wait))))))

(define (send mailbox message)
  (with-mutex (mailbox-lock mailbox)
    (mailbox-message-set! mailbox message)
    (condition-signal (mailbox-filled mailbox))))

(define (task tasks mailbox)
  (with-mutex lock
    (set! started (+ started 1))
    (when (= started tasks)
      (printf "alive ~a\n" (- started finished))
      (flush-output-port)))
  (receive mailbox)
  (with-mutex lock
    (set! finished (+ finished 1))
    (when (= finished tasks) (condition-signal all-ended))))

(define (run tasks seconds)
  (let ([wake-at (add-duration (current-time 'time-monotonic) (make-time 'time-duration 0 seconds))]
        [mailboxes (make-vector tasks)])
    (do ([i 0 (+ i 1)]) ([= i tasks])
      (let ([mailbox (make-mailbox)])
        (vector-set! mailboxes i mailbox)
        (guard (condition [#t (give-up tasks i condition)])
          (fork-thread (lambda () (task tasks mailbox))))))
    (let ([now (current-time 'time-monotonic)])
      (when (time<? now wake-at) (sleep (time-difference wake-at now))))
    (vector-for-each (lambda (mailbox) (send mailbox #t)) mailboxes)
    (with-mutex lock
      (let wait ()
        (when (< finished tasks)
          (condition-wait all-ended lock)
          (wait))))
    (printf "done ~a\n" finished)))

(define (give-up tasks launched condition)
  (fprintf (current-error-port) "cannot start task ~a of ~a: " (+ launched 1) tasks)
  (display-condition condition (current-error-port))
  (newline (current-error-port))
  (printf "failed ~a\n" (- tasks launched))
  (exit 1))

(apply run (map string->number (command-line-arguments)))
