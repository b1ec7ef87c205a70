/** One coroutine per task. */

import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private val started = AtomicInteger()
private val finished = AtomicInteger()

fun main(args: Array<String>) {
    val (tasks, seconds) = args.map(String::toInt)

    runBlocking(Dispatchers.Default) {
        repeat(tasks) {
            launch {
                if (started.incrementAndGet() == tasks) {
                    println("alive ${tasks - finished.get()}")
                }
                delay(seconds.seconds)
                finished.incrementAndGet()
            }
        }
    }

    println("done ${finished.get()}")
}
