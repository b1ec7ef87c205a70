(ns ring
  "One go block per task, each handing the tokens of its channel to the next. A token is the hops that it has left."
  (:require [clojure.core.async :refer [<! <!! >! >!! chan close! go]])
  (:import (java.util.concurrent.atomic AtomicLong))
  (:gen-class))

(set! *warn-on-reflection* true)

(def ^AtomicLong started (AtomicLong.))
(def all-started (promise))

(defn task [tasks number own next noted]
  (go
    (when (= tasks (.incrementAndGet started))
      (println "alive" tasks)
      (deliver all-started true))
    (loop []
      (when-some [hops (<! own)]
        (if (pos? hops)
          (>! next (dec hops))
          (>! noted number))
        (recur)))))

(defn -main [& args]
  (let [[tasks operations] (map parse-long (take 2 args))
        tokens (case (count args)
                 2 1
                 4 (when (= "--tokens" (nth args 2)) (parse-long (nth args 3)))
                 nil)]
    (when-not (and tasks operations tokens (pos? operations) (<= 1 tokens (quot tasks 2)))
      (binding [*out* *err*]
        (println "usage: ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token"))
      (System/exit 2))
    (let [channels (vec (repeatedly tasks #(chan 1)))
          noted (chan tokens)]
      (dotimes [number tasks]
        (task tasks number (channels number) (channels (mod (inc number) tasks)) noted))
      @all-started
      (println "ready")
      (dotimes [token tokens]
        (>!! (channels (quot (* token tasks) tokens))
             (+ (quot operations tokens) (if (< token (rem operations tokens)) 1 0))))
      (let [sum (reduce + (repeatedly tokens #(<!! noted)))]
        (println "done" operations)
        (println "check" sum))
      (run! close! channels))
    (System/exit 0)))
