;;; One thread of the operating system per task.

(declaim (type fixnum **started** **finished**))
(sb-ext:defglobal **started** 0)
(sb-ext:defglobal **finished** 0)

(defun task (tasks seconds)
  (when (= (1+ (sb-ext:atomic-incf **started**)) tasks) ; the value before is what it returns
    (format t "alive ~d~%" (- tasks **finished**))
    (finish-output))
  (sleep seconds)
  (sb-ext:atomic-incf **finished**))

(defun run (tasks seconds)
  (let ((threads '()))
    (handler-case
        (dotimes (i tasks)
          (push (sb-thread:make-thread #'task :arguments (list tasks seconds)) threads))
      (error (condition)
        (give-up tasks (length threads) condition)))
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
    (format *error-output* "usage: sleep.lisp <tasks> <seconds>: whole numbers, at least one task~%")
    (sb-ext:exit :code 2))
  (run tasks seconds))
