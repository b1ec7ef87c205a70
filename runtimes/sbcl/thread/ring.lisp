;;; One thread of the operating system per place in a ring, each with a mailbox from which it takes tokens.

(require :sb-concurrency)

(declaim (type fixnum **started**))
(sb-ext:defglobal **started** 0)

(defun task (tasks number own next noted all-started)
  (when (= (1+ (sb-ext:atomic-incf **started**)) tasks) ; the value before is what it returns
    (format t "alive ~d~%" tasks)
    (sb-thread:signal-semaphore all-started))
  (loop
    (let ((hops (sb-concurrency:receive-message own))) ; a token is the number of hops that it has left
      (if (plusp hops)
          (sb-concurrency:send-message next (1- hops))
          (sb-concurrency:send-message noted number)))))

(defun run (tasks operations tokens)
  (let ((mailboxes (coerce (loop repeat tasks collect (sb-concurrency:make-mailbox)) 'vector))
        (noted (sb-concurrency:make-mailbox))
        (all-started (sb-thread:make-semaphore)))
    (launch tasks mailboxes noted all-started)
    (sb-thread:wait-on-semaphore all-started)
    (format t "ready~%")
    (finish-output)
    (dotimes (token tokens)
      ;; The first tokens make one hop more, where the operations cannot be shared evenly.
      (sb-concurrency:send-message (aref mailboxes (floor (* token tasks) tokens))
                                   (floor (+ operations tokens -1 (- token)) tokens)))
    (let ((sum (loop repeat tokens sum (sb-concurrency:receive-message noted))))
      (format t "done ~d~%check ~d~%" operations sum))
    (finish-output)
    (sb-ext:exit :code 0 :abort t))) ; the threads end with the program

(defun launch (tasks mailboxes noted all-started)
  (let ((launched 0))
    (handler-case
        (dotimes (number tasks)
          (let ((own (aref mailboxes number))
                (next (aref mailboxes (mod (1+ number) tasks))))
            (sb-thread:make-thread #'task :arguments (list tasks number own next noted all-started)))
          (incf launched))
      (error (condition)
        (format *error-output* "cannot start task ~d of ~d: ~a~%" (1+ launched) tasks condition)
        (format t "failed ~d~%" (- tasks launched))
        (finish-output)
        (sb-ext:exit :code 1 :abort t))))) ; without :abort it would wait for the threads

(defun whole-number (word)
  (and word (plusp (length word)) (every #'digit-char-p word) (parse-integer word)))

(destructuring-bind (&optional tasks operations (option "--tokens" named) (tokens (unless named "1")) &rest more) (rest sb-ext:*posix-argv*)
  (destructuring-bind (tasks operations tokens) (mapcar #'whole-number (list tasks operations tokens))
    (unless (and tasks operations (plusp operations) (string= option "--tokens")
                 tokens (plusp tokens) (<= (* 2 tokens) tasks) (null more))
      (format *error-output*
              "usage: ring.lisp <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token~%")
      (sb-ext:exit :code 2))
    (run tasks operations tokens)))
