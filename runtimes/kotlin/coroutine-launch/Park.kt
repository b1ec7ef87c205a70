/** One coroutine per task, each waiting for one message. */

import java.util.concurrent.atomic.AtomicInteger
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private val started = AtomicInteger()
private val finished = AtomicInteger()

fun main(args: Array<String>) {
    val begin = TimeSource.Monotonic.markNow()
    val numbers = args.mapNotNull(String::toIntOrNull)
    if (args.size != 2 || numbers.size != 2 || numbers[0] < 1 || numbers[1] < 0) {
        System.err.println("usage: Park <tasks> <seconds>: whole numbers, at least one task")
        exitProcess(2)
    }
    val tasks = numbers[0]
    val wait = numbers[1].seconds

    runBlocking(Dispatchers.Default) {
        val mailboxes = List(tasks) {
            val mailbox = CompletableDeferred<Unit>()
            launch {
                if (started.incrementAndGet() == tasks) {
                    println("alive ${tasks - finished.get()}")
                }
                mailbox.await()
                finished.incrementAndGet()
            }
            mailbox
        }
        delay(wait - begin.elapsedNow())
        mailboxes.forEach { it.complete(Unit) }
    }

    println("done ${finished.get()}")
}
