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
  "A channel that closes after the given time. `timeout` shares one channel among all that are due within 10 ms of
  each other, and a channel refuses the 1,025th pending take."
  [millis]
  (let [due (chan)]
    (.schedule timer ^Runnable #(close! due) (long millis) TimeUnit/MILLISECONDS)
    due))

(defn task [tasks millis]
  (go
    (when (= tasks (.incrementAndGet started))
      (println "alive" (- tasks (.get finished))))
    (<! (own-timeout millis))
    (.incrementAndGet finished)))

(defn -main [& args]
  (let [[tasks seconds] (map parse-long args)
        millis (* 1000 seconds)]
    (run! <!! (mapv (fn [_] (task tasks millis)) (range tasks)))
    (println "done" (.get finished))
    (System/exit 0)))
