(ns skynet
  "One go block per node of a tree, which sums the results of its ten children."
  (:require [clojure.core.async :refer [<! <!! go]])
  (:gen-class))

(set! *warn-on-reflection* true)

(def ^:const children 10)

(defn node
  "The channel of a node with leaves numbered from `first` on, which gives their sum."
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
    (println "ready")
    (let [sum (reduce + (repeatedly (quot operations tasks) #(<!! (node 0 tasks))))]
      (println "done" operations)
      (println "check" sum))
    (System/exit 0)))
