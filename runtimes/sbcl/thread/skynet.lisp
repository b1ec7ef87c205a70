;;; One OS thread per node of a tree: a node joins its ten children and returns their sum.

(declaim (type fixnum **done** **requested**))
(sb-ext:defglobal **done** 0)
(sb-ext:defglobal **requested** 0)

(defun node (first leaves)
  (if (= leaves 1)
      first
      (let* ((size (floor leaves 10))
             (children (loop for i below 10 collect (fork (+ first (* i size)) size))))
        (loop for child in children sum (sb-thread:join-thread child)))))

(defun fork (first leaves)
  (handler-case (sb-thread:make-thread #'node :arguments (list first leaves))
    (error (condition)
      (format *error-output* "cannot start a tree of tasks: ~a~%" condition)
      (format t "done ~d~%failed ~d~%" **done** (- **requested** **done**))
      (finish-output)
      (sb-ext:exit :code 1 :abort t)))) ; without :abort, exit waits for the threads

(defun run (tasks operations)
  (setf **requested** operations)
  (format t "ready~%")
  (finish-output)
  (let ((sum 0))
    (loop while (< **done** operations)
          do (incf sum (sb-thread:join-thread (fork 0 tasks)))
             (incf **done** tasks))
    (format t "done ~d~%check ~d~%" operations sum)))

(apply #'run (mapcar #'parse-integer (rest sb-ext:*posix-argv*)))
