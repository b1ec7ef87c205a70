/** On one thread: one coroutine per task. */

import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private var started = 0
private var finished = 0

fun main(args: Array<String>) {
    val numbers = args.mapNotNull(String::toIntOrNull)
    if (args.size != 2 || numbers.size != 2 || numbers[0] < 1 || numbers[1] < 0) {
        System.err.println("usage: Sleep <tasks> <seconds>: whole numbers, at least one task")
        exitProcess(2)
    }
    val tasks = numbers[0]
    val wait = numbers[1].seconds

    runBlocking {
        repeat(tasks) {
            launch {
                started += 1
                if (started == tasks) {
                    println("alive ${tasks - finished}")
                }
                delay(wait)
                finished += 1
            }
        }
    }

    println("done $finished")
}
