;;; One OS thread per task.

(declaim (type fixnum **started** **finished**))
(sb-ext:defglobal **started** 0)
(sb-ext:defglobal **finished** 0)

(defun task (tasks seconds)
  (when (= (1+ (sb-ext:atomic-incf **started**)) tasks) ; atomic-incf returns the old value
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
  (sb-ext:exit :code 1 :abort t)) ; without :abort, exit waits for the threads

(apply #'run (mapcar #'parse-integer (rest sb-ext:*posix-argv*)))
