;;; One thread of the operating system per operation, made and joined, which is its result.

(defun run (tasks operations)
  (format t "ready~%")
  (finish-output)
  (let ((sum 0))
    (loop for first from 0 below operations by tasks
          do (dolist (thread (launch first (min (+ first tasks) operations) operations))
               (incf sum (sb-thread:join-thread thread))))
    (format t "done ~d~%check ~d~%" operations sum)))

(defun launch (first end operations)
  (handler-case
      (loop for number from first below end
            collect (sb-thread:make-thread #'identity :arguments number))
    (error (condition)
      (format *error-output* "cannot start ~d tasks at once: ~a~%" (- end first) condition)
      (format t "done ~d~%failed ~d~%" first (- operations first))
      (finish-output)
      (sb-ext:exit :code 1 :abort t)))) ; without :abort it would wait for the threads

(defun whole-number (word)
  (and word (plusp (length word)) (every #'digit-char-p word) (parse-integer word)))

(destructuring-bind (&optional tasks operations &rest more) (mapcar #'whole-number (rest sb-ext:*posix-argv*))
  (unless (and tasks (plusp tasks) operations (plusp operations) (null more))
    (format *error-output* "usage: spawn.lisp <tasks> <operations>: whole numbers, at least one of each~%")
    (sb-ext:exit :code 2))
  (run tasks operations))
