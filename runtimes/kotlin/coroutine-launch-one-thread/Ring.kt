/** On one thread: one coroutine per task, which hands the tokens of its channel to the next. A token is the number of its remaining hops. */

import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private var started = 0
private val allStarted = CompletableDeferred<Unit>()

fun main(args: Array<String>) {
    val tasks = args[0].toInt()
    val operations = args[1].toInt()
    val tokens = args.getOrNull(3)?.toInt() ?: 1 // --tokens

    runBlocking {
        val channels = List(tasks) { Channel<Int>(1) }
        val ends = Channel<Int>(tokens)
        channels.forEachIndexed { number, channel ->
            val next = channels[(number + 1) % tasks]
            launch {
                started += 1
                if (started == tasks) {
                    println("alive $tasks")
                    allStarted.complete(Unit)
                }
                for (hops in channel) {
                    if (hops > 0) next.send(hops - 1) else ends.send(number)
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
        repeat(tokens) { sum += ends.receive() }
        println("done $operations")
        println("check $sum")
        channels.forEach { it.close() }
    }
}
