;;; A ring of OS threads: each receives tokens in its mailbox and sends them to the next thread's.
;;; A token is the number of hops that it has left.

(require :sb-concurrency)

(declaim (type fixnum **started**))
(sb-ext:defglobal **started** 0)

(defun task (tasks number mailbox next-mailbox results all-started)
  (when (= (1+ (sb-ext:atomic-incf **started**)) tasks) ; atomic-incf returns the old value
    (format t "alive ~d~%" tasks)
    (sb-thread:signal-semaphore all-started))
  (loop
    (let ((hops (sb-concurrency:receive-message mailbox)))
      (if (plusp hops)
          (sb-concurrency:send-message next-mailbox (1- hops))
          (sb-concurrency:send-message results number)))))

(defun run (tasks operations tokens)
  (let ((mailboxes (coerce (loop repeat tasks collect (sb-concurrency:make-mailbox)) 'vector))
        (results (sb-concurrency:make-mailbox))
        (all-started (sb-thread:make-semaphore)))
    (launch tasks mailboxes results all-started)
    (sb-thread:wait-on-semaphore all-started)
    (format t "ready~%")
    (finish-output)
    (dotimes (token tokens)
      (multiple-value-bind (hops more) (floor operations tokens)
        (sb-concurrency:send-message (aref mailboxes (floor (* token tasks) tokens))
                                     (if (< token more) (1+ hops) hops))))
    (let ((sum (loop repeat tokens sum (sb-concurrency:receive-message results))))
      (format t "done ~d~%check ~d~%" operations sum))
    (finish-output)
    (sb-ext:exit :code 0 :abort t))) ; ends the threads

(defun launch (tasks mailboxes results all-started)
  (let ((launched 0))
    (handler-case
        (dotimes (number tasks)
          (let ((mailbox (aref mailboxes number))
                (next-mailbox (aref mailboxes (mod (1+ number) tasks))))
            (sb-thread:make-thread #'task :arguments (list tasks number mailbox next-mailbox results all-started)))
          (incf launched))
      (error (condition)
        (format *error-output* "cannot start task ~d of ~d: ~a~%" (1+ launched) tasks condition)
        (format t "failed ~d~%" (- tasks launched))
        (finish-output)
        (sb-ext:exit :code 1 :abort t))))) ; without :abort, exit waits for the threads

(destructuring-bind (tasks operations &optional option (tokens "1")) (rest sb-ext:*posix-argv*)
  (declare (ignore option))
  (run (parse-integer tasks) (parse-integer operations) (parse-integer tokens)))
