;;; One OS thread per task, each waiting for a semaphore of its own.

(declaim (type fixnum **started** **finished**))
(sb-ext:defglobal **started** 0)
(sb-ext:defglobal **finished** 0)

(defun task (tasks semaphore)
  (when (= (1+ (sb-ext:atomic-incf **started**)) tasks) ; atomic-incf returns the old value
    (format t "alive ~d~%" (- tasks **finished**))
    (finish-output))
  (sb-thread:wait-on-semaphore semaphore)
  (sb-ext:atomic-incf **finished**))

(defun now ()
  (/ (get-internal-real-time) internal-time-units-per-second))

(defun run (tasks seconds)
  (let ((wake-at (+ (now) seconds))
        (semaphores '())
        (threads '()))
    (handler-case
        (dotimes (i tasks)
          (let ((semaphore (sb-thread:make-semaphore)))
            (push (sb-thread:make-thread #'task :arguments (list tasks semaphore)) threads)
            (push semaphore semaphores)))
      (error (condition)
        (give-up tasks (length threads) condition)))
    (sleep (max 0 (- wake-at (now))))
    (mapc #'sb-thread:signal-semaphore semaphores)
    (mapc #'sb-thread:join-thread threads)
    (format t "done ~d~%" **finished**)))

(defun give-up (tasks launched condition)
  (format *error-output* "cannot start task ~d of ~d: ~a~%" (1+ launched) tasks condition)
  (format t "done ~d~%failed ~d~%" **finished** (- tasks launched))
  (finish-output)
  (sb-ext:exit :code 1 :abort t)) ; without :abort, exit waits for the threads

(apply #'run (mapcar #'parse-integer (rest sb-ext:*posix-argv*)))
