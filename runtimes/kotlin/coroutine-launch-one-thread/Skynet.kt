/** On one thread: one coroutine per node of a tree, made by async, each of which awaits its ten children. */

import kotlin.system.exitProcess
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking

private const val CHILDREN = 10

/** The node with so many leaves from number [first] on: a child of the coroutine that calls this. */
private fun CoroutineScope.node(first: Long, leaves: Int): Deferred<Long> = async {
    if (leaves == 1) {
        first
    } else {
        val share = leaves / CHILDREN
        List(CHILDREN) { node(first + it * share, share) }.awaitAll().sum()
    }
}

fun main(args: Array<String>) {
    val numbers = args.mapNotNull(String::toIntOrNull)
    if (args.size != 2 || numbers.size != 2 || numbers.any { it < 1 } ||
        args[0].trimEnd('0') != "1" || numbers[1] % numbers[0] != 0
    ) {
        System.err.println("usage: Skynet <tasks> <operations>: a power of ten, and a multiple of it")
        exitProcess(2)
    }
    val (tasks, operations) = numbers
    println("ready")

    var sum = 0L
    runBlocking {
        repeat(operations / tasks) { sum += node(0, tasks).await() }
    }

    println("done $operations")
    println("check $sum")
}
