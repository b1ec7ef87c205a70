(ns skynet
  "One go block per node of a tree, each of which adds up what its ten children give."
  (:require [clojure.core.async :refer [<! <!! go]])
  (:gen-class))

(set! *warn-on-reflection* true)

(def ^:const children 10)

(defn node
  "The channel of the node with so many leaves from number `first` on."
  [first leaves]
  (go
    (if (= 1 leaves)
      first
      (let [share (quot leaves children)]
        (loop [sum 0
               left (mapv #(node (+ first (* % share)) share) (range children))]
          (if (empty? left)
            sum
            (recur (+ sum (<! (peek left))) (pop left))))))))

(defn -main [& args]
  (let [[tasks operations] (map parse-long args)]
    (when-not (and (= 2 (count args)) tasks operations (re-matches #"10*" (nth args 0))
                   (pos? operations) (zero? (rem operations tasks)))
      (binding [*out* *err*]
        (println "usage: skynet <tasks> <operations>: a power of ten, and a multiple of it"))
      (System/exit 2))
    (println "ready")
    (let [sum (reduce + (repeatedly (quot operations tasks) #(<!! (node 0 tasks))))]
      (println "done" operations)
      (println "check" sum))
    (System/exit 0)))
