(ns park
  "One go block per task, each waiting for one message."
  (:require [clojure.core.async :refer [<! <!! >!! chan go]])
  (:import (java.util.concurrent.atomic AtomicLong))
  (:gen-class))

(set! *warn-on-reflection* true)

(def ^AtomicLong started (AtomicLong.))
(def ^AtomicLong finished (AtomicLong.))

(defn task [tasks mailbox]
  (go
    (when (= tasks (.incrementAndGet started))
      (println "alive" (- tasks (.get finished))))
    (<! mailbox)
    (.incrementAndGet finished)))

(defn -main [& args]
  (let [begin (System/nanoTime)
        [tasks seconds] (map parse-long args)
        millis (* 1000 seconds)
        mailboxes (vec (repeatedly tasks #(chan 1)))
        all (mapv #(task tasks %) mailboxes)
        passed (quot (- (System/nanoTime) begin) 1000000)]
    (Thread/sleep (long (max 0 (- millis passed))))
    (run! #(>!! % true) mailboxes)
    (run! <!! all)
    (println "done" (.get finished))
    (System/exit 0)))
