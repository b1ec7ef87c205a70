/** One coroutine per task, each holding bytes of its own while it waits. */

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.LongAdder
import kotlin.system.exitProcess
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private val started = AtomicInteger()
private val finished = AtomicInteger()
private val sum = LongAdder()

private class Given(val tasks: Int, val wait: Duration, val bytes: Int, val depth: Int)

fun main(args: Array<String>) {
    val given = arguments(args)
    if (given == null) {
        System.err.println(
            "usage: State <tasks> <seconds> [--bytes <bytes>] [--depth <calls>]: " +
                "whole numbers, at least one task, byte and call"
        )
        exitProcess(2)
    }

    runBlocking(Dispatchers.Default) {
        repeat(given.tasks) { number ->
            launch {
                sum.add(hold(number, given.depth, given))
                finished.incrementAndGet()
            }
        }
    }

    println("done ${finished.get()}")
    println("check ${sum.sum()}")
}

/** Fills the bytes of a task so many calls down, waits, and sums them. */
private suspend fun hold(number: Int, calls: Int, given: Given): Long {
    if (calls > 1) {
        // What comes after the call keeps its frame.
        val below = hold(number, calls - 1, given)
        return below
    }
    val state = ByteArray(given.bytes) { k -> ((number + k) % 251).toByte() }
    if (started.incrementAndGet() == given.tasks) {
        println("alive ${given.tasks - finished.get()}")
    }
    delay(given.wait)
    return state.sumOf { it.toUByte().toLong() }
}

private fun arguments(args: Array<String>): Given? {
    val options = mutableMapOf("--bytes" to 1024, "--depth" to 1)
    if (args.size < 2 || args.size % 2 != 0) return null
    for ((name, value) in args.drop(2).chunked(2)) {
        if (name !in options) return null
        options[name] = value.toIntOrNull() ?: return null
    }
    val tasks = args[0].toIntOrNull()?.takeIf { it >= 1 } ?: return null
    val seconds = args[1].toIntOrNull()?.takeIf { it >= 0 } ?: return null
    if (options.values.any { it < 1 }) return null
    return Given(tasks, seconds.seconds, options.getValue("--bytes"), options.getValue("--depth"))
}
