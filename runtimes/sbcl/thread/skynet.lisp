;;; One thread of the operating system per node of a tree, joined by its parent for its sum.

(declaim (type fixnum **done** **asked**))
(sb-ext:defglobal **done** 0)
(sb-ext:defglobal **asked** 0)

(defun node (first leaves)
  "The sum of so many leaves from a number on."
  (if (= leaves 1)
      first
      (let* ((share (floor leaves 10))
             (children (loop for i below 10 collect (fork (+ first (* i share)) share))))
        (loop for child in children sum (sb-thread:join-thread child)))))

(defun fork (first leaves)
  (handler-case (sb-thread:make-thread #'node :arguments (list first leaves))
    (error (condition)
      (format *error-output* "cannot start a tree of tasks: ~a~%" condition)
      (format t "done ~d~%failed ~d~%" **done** (- **asked** **done**))
      (finish-output)
      (sb-ext:exit :code 1 :abort t)))) ; without :abort it would wait for the threads

(defun run (tasks operations)
  (setf **asked** operations)
  (format t "ready~%")
  (finish-output)
  (let ((sum 0))
    (loop while (< **done** operations)
          do (incf sum (sb-thread:join-thread (fork 0 tasks)))
             (incf **done** tasks))
    (format t "done ~d~%check ~d~%" operations sum)))

(defun whole-number (word)
  (and word (plusp (length word)) (every #'digit-char-p word) (parse-integer word)))

(defun power-of-ten-p (number)
  (or (= number 1) (and (> number 1) (zerop (mod number 10)) (power-of-ten-p (floor number 10)))))

(destructuring-bind (&optional tasks operations &rest more) (mapcar #'whole-number (rest sb-ext:*posix-argv*))
  (unless (and tasks (power-of-ten-p tasks) operations (plusp operations) (zerop (mod operations tasks)) (null more))
    (format *error-output* "usage: skynet.lisp <tasks> <operations>: tasks a power of ten, operations a multiple of them~%")
    (sb-ext:exit :code 2))
  (run tasks operations))
