;;; One OS thread per operation; join-thread returns its result.

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
      (sb-ext:exit :code 1 :abort t)))) ; without :abort, exit waits for the threads

(apply #'run (mapcar #'parse-integer (rest sb-ext:*posix-argv*)))
