/** On one thread: one coroutine per task, each handing the tokens of its channel to the next. A token is the hops that it has left. */

import kotlin.system.exitProcess
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private var started = 0
private val allStarted = CompletableDeferred<Unit>()

fun main(args: Array<String>) {
    val numbers = args.take(2).mapNotNull(String::toIntOrNull)
    val tokens = when {
        args.size == 2 -> 1
        args.size == 4 && args[2] == "--tokens" -> args[3].toIntOrNull()
        else -> null
    }
    if (numbers.size != 2 || numbers[0] < 2 || numbers[1] < 1 || tokens == null || tokens !in 1..numbers[0] / 2) {
        System.err.println("usage: Ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token")
        exitProcess(2)
    }
    val (tasks, operations) = numbers

    runBlocking {
        val channels = List(tasks) { Channel<Int>(1) }
        val noted = Channel<Int>(tokens)
        channels.forEachIndexed { number, channel ->
            val next = channels[(number + 1) % tasks]
            launch {
                started += 1
                if (started == tasks) {
                    println("alive $tasks")
                    allStarted.complete(Unit)
                }
                for (hops in channel) {
                    if (hops > 0) next.send(hops - 1) else noted.send(number)
                }
            }
        }
        allStarted.await()
        println("ready")

        for (token in 0..<tokens) {
            val first = token.toLong() * tasks / tokens
            channels[first.toInt()].send(operations / tokens + if (token < operations % tokens) 1 else 0)
        }
        var sum = 0L
        repeat(tokens) { sum += noted.receive() }
        println("done $operations")
        println("check $sum")
        channels.forEach { it.close() }
    }
}
