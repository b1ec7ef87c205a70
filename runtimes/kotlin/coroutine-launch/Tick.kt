/** One coroutine per task, each a heartbeat: it wakes once in every period. */

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLongArray
import kotlin.system.exitProcess
import kotlin.time.ComparableTimeMark
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource.Monotonic
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield

private val started = AtomicInteger()
private val finished = AtomicInteger()

/** Bucket b: ticks that were late by less than 2^b µs, and not less than half of that. */
private val late = AtomicLongArray(32)

private class Heartbeats(
    val tasks: Int,
    val period: Duration,
    val hogs: Int,
    val hog: Duration,
    val begin: ComparableTimeMark,
    val end: ComparableTimeMark,
)

fun main(args: Array<String>) {
    val given = arguments(args)
    if (given == null) {
        System.err.println(
            "usage: Tick <tasks> <seconds> [--period-ms <ms>] [--hogs <tasks>] [--hog-ms <ms>]: " +
                "whole numbers, at least one task and millisecond"
        )
        exitProcess(2)
    }

    runBlocking(Dispatchers.Default) {
        repeat(given.tasks) { number -> launch { task(number, given) } }
        repeat(given.hogs) { launch { compute(given) } }
    }

    println("done ${finished.get()}")
    println("histogram late_us " + (0..<late.length()).joinToString(" ") { late.get(it).toString() })
}

private suspend fun task(number: Int, given: Heartbeats) {
    var due = given.begin + given.period * number / given.tasks
    val start = Monotonic.markNow()
    while (due < start) due += given.period
    if (started.incrementAndGet() == given.tasks) {
        println("alive ${given.tasks - finished.get()}")
    }
    while (due < given.end) {
        delay(-due.elapsedNow())
        val now = Monotonic.markNow()
        if (now >= given.end) break
        if (started.get() == given.tasks) count(now - due)
        due += given.period
    }
    delay(-given.end.elapsedNow())
    finished.incrementAndGet()
}

private fun count(wait: Duration) {
    val bucket = Long.SIZE_BITS - wait.inWholeMicroseconds.coerceAtLeast(0).countLeadingZeroBits()
    late.getAndIncrement(bucket.coerceAtMost(late.length() - 1))
}

/** Computes, yields, and so on. */
private suspend fun compute(given: Heartbeats) {
    while (given.end.hasNotPassedNow()) {
        val until = Monotonic.markNow() + given.hog
        while (until.hasNotPassedNow()) Thread.onSpinWait()
        yield()
    }
}

private fun arguments(args: Array<String>): Heartbeats? {
    val options = mutableMapOf("--period-ms" to 1000, "--hogs" to 0, "--hog-ms" to 10)
    if (args.size < 2 || args.size % 2 != 0) return null
    for ((name, value) in args.drop(2).chunked(2)) {
        if (name !in options) return null
        options[name] = value.toIntOrNull()?.takeIf { it >= 0 } ?: return null
    }
    val tasks = args[0].toIntOrNull()?.takeIf { it >= 1 } ?: return null
    val seconds = args[1].toIntOrNull()?.takeIf { it >= 0 } ?: return null
    val period = options.getValue("--period-ms").milliseconds
    val hog = options.getValue("--hog-ms").milliseconds
    if (period < 1.milliseconds || hog < 1.milliseconds) return null
    val begin = Monotonic.markNow()
    return Heartbeats(tasks, period, options.getValue("--hogs"), hog, begin, begin + seconds.seconds)
}
