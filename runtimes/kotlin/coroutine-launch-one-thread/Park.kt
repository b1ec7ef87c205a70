/** On one thread: one coroutine per task, each waiting for one message. */

import kotlin.system.exitProcess
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
    val numbers = args.mapNotNull(String::toIntOrNull)
    if (args.size != 2 || numbers.size != 2 || numbers[0] < 1 || numbers[1] < 0) {
        System.err.println("usage: Park <tasks> <seconds>: whole numbers, at least one task")
        exitProcess(2)
    }
    val tasks = numbers[0]
    val wait = numbers[1].seconds

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
        delay(wait - begin.elapsedNow())
        mailboxes.forEach { it.complete(Unit) }
    }

    println("done $finished")
}
