(ns ring
  "One go block per task, which hands the tokens of its channel to the next. A token is the number of its remaining hops."
  (:require [clojure.core.async :refer [<! <!! >! >!! chan close! go]])
  (:import (java.util.concurrent.atomic AtomicLong))
  (:gen-class))

(set! *warn-on-reflection* true)

(def ^AtomicLong started (AtomicLong.))
(def all-started (promise))

(defn task [tasks number own next ends]
  (go
    (when (= tasks (.incrementAndGet started))
      (println "alive" tasks)
      (deliver all-started true))
    (loop []
      (when-some [hops (<! own)]
        (if (pos? hops)
          (>! next (dec hops))
          (>! ends number))
        (recur)))))

(defn -main [& args]
  (let [[tasks operations] (map parse-long (take 2 args))
        tokens (parse-long (nth args 3 "1")) ; --tokens
        channels (vec (repeatedly tasks #(chan 1)))
        ends (chan tokens)]
    (dotimes [number tasks]
      (task tasks number (channels number) (channels (mod (inc number) tasks)) ends))
    @all-started
    (println "ready")
    (dotimes [token tokens]
      (>!! (channels (quot (* token tasks) tokens))
           (+ (quot operations tokens) (if (< token (rem operations tokens)) 1 0))))
    (let [sum (reduce + (repeatedly tokens #(<!! ends)))]
      (println "done" operations)
      (println "check" sum))
    (run! close! channels)
    (System/exit 0)))
