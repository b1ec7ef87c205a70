(ns sleep
  "One go block per task."
  (:require [clojure.core.async :refer [<! <!! chan close! go]])
  (:import (java.util.concurrent Executors ScheduledExecutorService TimeUnit)
           (java.util.concurrent.atomic AtomicLong))
  (:gen-class))

(set! *warn-on-reflection* true)

(def ^AtomicLong started (AtomicLong.))
(def ^AtomicLong finished (AtomicLong.))
(def ^ScheduledExecutorService timer (Executors/newSingleThreadScheduledExecutor))

(defn own-timeout
  "A channel that closes after so many seconds. `timeout` gives one channel to all that are due within 10 ms of each
  other, and a channel refuses the 1,025th that waits for it."
  [seconds]
  (let [due (chan)]
    (.schedule timer ^Runnable #(close! due) (long seconds) TimeUnit/SECONDS)
    due))

(defn task [tasks seconds]
  (go
    (when (= tasks (.incrementAndGet started))
      (println "alive" (- tasks (.get finished))))
    (<! (own-timeout seconds))
    (.incrementAndGet finished)))

(defn -main [& args]
  (let [[tasks seconds] (map parse-long args)]
    (when-not (and (= 2 (count args)) tasks seconds (pos? tasks) (nat-int? seconds))
      (binding [*out* *err*]
        (println "usage: sleep <tasks> <seconds>: whole numbers, at least one task"))
      (System/exit 2))
    (run! <!! (mapv (fn [_] (task tasks seconds)) (range tasks)))
    (println "done" (.get finished))
    (System/exit 0)))
