/** One coroutine per node of a tree, made by async, which awaits its ten children. */

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking

private const val CHILDREN = 10

/** The sum of the numbers of [leaves] leaves from [first] on. The new coroutine is a child of the caller. */
private fun CoroutineScope.node(first: Long, leaves: Int): Deferred<Long> = async {
    if (leaves == 1) {
        first
    } else {
        val share = leaves / CHILDREN
        List(CHILDREN) { node(first + it * share, share) }.awaitAll().sum()
    }
}

fun main(args: Array<String>) {
    val (tasks, operations) = args.map(String::toInt)
    println("ready")

    var sum = 0L
    runBlocking(Dispatchers.Default) {
        repeat(operations / tasks) { sum += node(0, tasks).await() }
    }

    println("done $operations")
    println("check $sum")
}
