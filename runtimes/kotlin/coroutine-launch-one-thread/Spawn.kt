/** On one thread: one coroutine per operation, made by async and awaited for its result. */

import kotlin.system.exitProcess
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking

fun main(args: Array<String>) {
    val numbers = args.mapNotNull(String::toIntOrNull)
    if (args.size != 2 || numbers.size != 2 || numbers.any { it < 1 }) {
        System.err.println("usage: Spawn <tasks> <operations>: whole numbers, at least one of each")
        exitProcess(2)
    }
    val (tasks, operations) = numbers
    println("ready")

    var sum = 0L
    runBlocking {
        for (first in 0L..<operations step tasks.toLong()) {
            val round = first..<minOf(first + tasks, operations.toLong())
            sum += round.map { number -> async { number } }.awaitAll().sum()
        }
    }

    println("done $operations")
    println("check $sum")
}
