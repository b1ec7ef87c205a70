(ns spawn
  "One go block per operation, whose channel gives its result."
  (:require [clojure.core.async :refer [<!! go]])
  (:gen-class))

(set! *warn-on-reflection* true)

(defn round [first end]
  (transduce (map <!!) + (mapv #(go %) (range first end))))

(defn -main [& args]
  (let [[tasks operations] (map parse-long args)]
    (println "ready")
    (let [sum (transduce (map #(round % (min operations (+ % tasks)))) + (range 0 operations tasks))]
      (println "done" operations)
      (println "check" sum))
    (System/exit 0)))
