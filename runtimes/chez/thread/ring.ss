;;; One thread of the operating system per place in a ring, each with a channel of one from which it takes tokens.

(define lock (make-mutex))
(define all-started (make-condition))
(define started 0)

;; A channel that holds one message.
(define-record-type channel
  (fields lock changed (mutable message))
  (protocol (lambda (new) (lambda () (new (make-mutex) (make-condition) #f)))))

(define (send channel message)
  (with-mutex (channel-lock channel)
    (let wait ()
      (when (channel-message channel)
        (condition-wait (channel-changed channel) (channel-lock channel))
        (wait)))
    (channel-message-set! channel message)
    (condition-broadcast (channel-changed channel))))

(define (receive channel)
  (with-mutex (channel-lock channel)
    (let wait ()
      (unless (channel-message channel)
        (condition-wait (channel-changed channel) (channel-lock channel))
        (wait)))
    (let ([message (channel-message channel)])
      (channel-message-set! channel #f)
      (condition-broadcast (channel-changed channel))
      message)))

(define (task tasks number own next noted)
  (with-mutex lock
    (set! started (+ started 1))
    (when (= started tasks)
      (printf "alive ~a\n" tasks)
      (condition-signal all-started)))
  (let pass ()
    (let ([hops (receive own)]) ; a token is the number of hops that it has left
      (if (> hops 0)
          (send next (- hops 1))
          (send noted number))
      (pass))))

(define (run tasks operations tokens)
  (let ([channels (make-vector tasks)] [noted (make-channel)])
    (do ([i 0 (+ i 1)]) ([= i tasks])
      (vector-set! channels i (make-channel)))
    (do ([i 0 (+ i 1)]) ([= i tasks])
      (let ([own (vector-ref channels i)] [next (vector-ref channels (mod (+ i 1) tasks))])
        (guard (condition [#t (give-up tasks i condition)])
          (fork-thread (lambda () (task tasks i own next noted))))))
    (with-mutex lock
      (let wait ()
        (when (< started tasks)
          (condition-wait all-started lock)
          (wait))))
    (printf "ready\n")
    (flush-output-port)
    (do ([token 0 (+ token 1)]) ([= token tokens])
      ;; The first tokens make one hop more, where the operations cannot be shared evenly.
      (send (vector-ref channels (quotient (* token tasks) tokens))
            (quotient (+ operations tokens -1 (- token)) tokens)))
    (let sum ([left tokens] [total 0])
      (if (> left 0)
          (sum (- left 1) (+ total (receive noted)))
          (printf "done ~a\ncheck ~a\n" operations total)))
    (exit))) ; the threads end with the program

(define (give-up tasks launched condition)
  (fprintf (current-error-port) "cannot start task ~a of ~a: " (+ launched 1) tasks)
  (display-condition condition (current-error-port))
  (newline (current-error-port))
  (printf "failed ~a\n" (- tasks launched))
  (exit 1))

(define (whole-number word)
  (let ([number (string->number word)])
    (and (fixnum? number) (>= number 0) number)))

(define (right? tasks operations tokens)
  (and tasks operations (> operations 0) tokens (> tokens 0) (<= (* 2 tokens) tasks)))

(let* ([words (command-line-arguments)]
       [named? (and (= (length words) 4) (string=? (caddr words) "--tokens"))]
       [words (cond [named? (list (car words) (cadr words) (cadddr words))]
                    [(= (length words) 2) (append words '("1"))]
                    [else '()])]
       [numbers (map whole-number words)])
  (unless (and (= (length numbers) 3) (apply right? numbers))
    (display "usage: ring.ss <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token\n"
             (current-error-port))
    (exit 2))
  (apply run numbers))
