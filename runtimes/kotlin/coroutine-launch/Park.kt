/** One coroutine per task, each waiting for one message. */

import java.util.concurrent.atomic.AtomicInteger
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
    val (tasks, seconds) = args.map(String::toInt)

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
        delay(seconds.seconds - begin.elapsedNow())
        mailboxes.forEach { it.complete(Unit) }
    }

    println("done ${finished.get()}")
}
