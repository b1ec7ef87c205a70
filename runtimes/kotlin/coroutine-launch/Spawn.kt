/** One coroutine per operation, made by async and awaited for its result. */

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking

fun main(args: Array<String>) {
    val (tasks, operations) = args.map(String::toInt)
    println("ready")

    var sum = 0L
    runBlocking(Dispatchers.Default) {
        for (first in 0L..<operations step tasks.toLong()) {
            val round = first..<minOf(first + tasks, operations.toLong())
            sum += round.map { number -> async { number } }.awaitAll().sum()
        }
    }

    println("done $operations")
    println("check $sum")
}
