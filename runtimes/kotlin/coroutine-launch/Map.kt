/** One coroutine per task, all adding to one map and reading from it. */

import java.util.concurrent.ConcurrentHashMap
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking

private const val FILLED = 65_536

/** The product of two UInt wraps at 2^32. */
private fun key(i: Int): UInt = i.toUInt() * 2_654_435_761u

fun main(args: Array<String>) {
    val (tasks, operations) = args.map(String::toInt)
    val map = ConcurrentHashMap<UInt, Int>()
    for (i in 0..<FILLED) {
        map[key(i)] = i
    }
    println("ready")

    val sum = runBlocking(Dispatchers.Default) {
        val bounds = (0..tasks).map { (it.toLong() * operations / tasks).toInt() }
        bounds.zipWithNext { first, end ->
            async {
                var sum = 0L
                for (operation in first..<end) {
                    val added = FILLED + operation
                    map[key(added)] = added
                    sum += map.getValue(key(operation % FILLED))
                }
                sum
            }
        }.awaitAll().sum()
    }

    println("done $operations")
    println("check ${sum + map.size}")
}
