/** On one thread: one coroutine per task. */

import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private var started = 0
private var finished = 0

fun main(args: Array<String>) {
    val (tasks, seconds) = args.map(String::toInt)

    runBlocking {
        repeat(tasks) {
            launch {
                started += 1
                if (started == tasks) {
                    println("alive ${tasks - finished}")
                }
                delay(seconds.seconds)
                finished += 1
            }
        }
    }

    println("done $finished")
}
