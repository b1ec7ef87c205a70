;;; One thread of the operating system per task, each waiting for one message.

(declaim (type fixnum **started** **finished**))
(sb-ext:defglobal **started** 0)
(sb-ext:defglobal **finished** 0)

(defun task (tasks mailbox)
  (when (= (1+ (sb-ext:atomic-incf **started**)) tasks) ; the value before is what it returns
    (format t "alive ~d~%" (- tasks **finished**))
    (finish-output))
  (sb-thread:wait-on-semaphore mailbox)
  (sb-ext:atomic-incf **finished**))

(defun now ()
  (/ (get-internal-real-time) internal-time-units-per-second))

(defun run (tasks seconds)
  (let ((due (+ (now) seconds))
        (mailboxes '())
        (threads '()))
    (handler-case
        (dotimes (i tasks)
          (let ((mailbox (sb-thread:make-semaphore)))
            (push (sb-thread:make-thread #'task :arguments (list tasks mailbox)) threads)
            (push mailbox mailboxes)))
      (error (condition)
        (give-up tasks (length threads) condition)))
    (sleep (max 0 (- due (now))))
    (mapc #'sb-thread:signal-semaphore mailboxes)
    (mapc #'sb-thread:join-thread threads)
    (format t "done ~d~%" **finished**)))

(defun give-up (tasks launched condition)
  (format *error-output* "cannot start task ~d of ~d: ~a~%" (1+ launched) tasks condition)
  (format t "done ~d~%failed ~d~%" **finished** (- tasks launched))
  (finish-output)
  (sb-ext:exit :code 1 :abort t)) ; without :abort it would wait for the threads

(defun whole-number (word)
  (and word (plusp (length word)) (every #'digit-char-p word) (parse-integer word)))

(destructuring-bind (&optional tasks seconds &rest more) (mapcar #'whole-number (rest sb-ext:*posix-argv*))
  (unless (and tasks (plusp tasks) seconds (null more))
    (format *error-output* "usage: park.lisp <tasks> <seconds>: whole numbers, at least one task~%")
    (sb-ext:exit :code 2))
  (run tasks seconds))
