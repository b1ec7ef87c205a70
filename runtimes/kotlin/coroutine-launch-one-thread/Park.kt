/** On one thread: one coroutine per task, each waiting for one message. */

import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private var started = 0
private var finished = 0

fun main(args: Array<String>) {
    val begin = TimeSource.Monotonic.markNow()
    val (tasks, seconds) = args.map(String::toInt)

    runBlocking {
        val mailboxes = List(tasks) {
            val mailbox = CompletableDeferred<Unit>()
            launch {
                started += 1
                if (started == tasks) {
                    println("alive ${tasks - finished}")
                }
                mailbox.await()
                finished += 1
            }
            mailbox
        }
        delay(seconds.seconds - begin.elapsedNow())
        mailboxes.forEach { it.complete(Unit) }
    }

    println("done $finished")
}
