/** One coroutine per task; each keeps its own bytes while it waits. */

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.LongAdder
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private val started = AtomicInteger()
private val finished = AtomicInteger()
private val sum = LongAdder()

private class Settings(val tasks: Int, val wait: Duration, val bytes: Int, val depth: Int)

fun main(args: Array<String>) {
    val options = args.drop(2).chunked(2).associate { (name, value) -> name to value.toInt() }
    val settings = Settings(
        tasks = args[0].toInt(),
        wait = args[1].toInt().seconds,
        bytes = options["--bytes"] ?: 1024,
        depth = options["--depth"] ?: 1,
    )

    runBlocking(Dispatchers.Default) {
        repeat(settings.tasks) { number ->
            launch {
                sum.add(hold(number, settings.depth, settings))
                finished.incrementAndGet()
            }
        }
    }

    println("done ${finished.get()}")
    println("check ${sum.sum()}")
}

/** Makes the given number of nested calls, fills the task's bytes, waits, and returns their sum. */
private suspend fun hold(number: Int, calls: Int, settings: Settings): Long {
    if (calls > 1) {
        // Not a tail call, which would leave no frame.
        val below = hold(number, calls - 1, settings)
        return below
    }
    val state = ByteArray(settings.bytes) { k -> ((number + k) % 251).toByte() }
    if (started.incrementAndGet() == settings.tasks) {
        println("alive ${settings.tasks - finished.get()}")
    }
    delay(settings.wait)
    return state.sumOf { it.toUByte().toLong() }
}
