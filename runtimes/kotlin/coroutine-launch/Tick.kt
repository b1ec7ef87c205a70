/** One coroutine per task; each wakes once in every period. */

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLongArray
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

/** Bucket b counts ticks that were late by less than 2^b µs and at least half of that. */
private val late = AtomicLongArray(32)

private class Schedule(
    val tasks: Int,
    val period: Duration,
    val hogs: Int,
    val hogTime: Duration,
    val begin: ComparableTimeMark,
    val end: ComparableTimeMark,
)

fun main(args: Array<String>) {
    val options = args.drop(2).chunked(2).associate { (name, value) -> name to value.toInt() }
    val begin = Monotonic.markNow()
    val schedule = Schedule(
        tasks = args[0].toInt(),
        period = (options["--period-ms"] ?: 1000).milliseconds,
        hogs = options["--hogs"] ?: 0,
        hogTime = (options["--hog-ms"] ?: 10).milliseconds,
        begin = begin,
        end = begin + args[1].toInt().seconds,
    )

    runBlocking(Dispatchers.Default) {
        repeat(schedule.tasks) { number -> launch { task(number, schedule) } }
        repeat(schedule.hogs) { launch { compute(schedule) } }
    }

    println("done ${finished.get()}")
    println("histogram late_us " + (0..<late.length()).joinToString(" ") { late.get(it).toString() })
}

private suspend fun task(number: Int, schedule: Schedule) {
    var due = schedule.begin + schedule.period * number / schedule.tasks
    val start = Monotonic.markNow()
    while (due < start) due += schedule.period
    if (started.incrementAndGet() == schedule.tasks) {
        println("alive ${schedule.tasks - finished.get()}")
    }
    while (due < schedule.end) {
        delay(-due.elapsedNow())
        val now = Monotonic.markNow()
        if (now >= schedule.end) break
        if (started.get() == schedule.tasks) count(now - due)
        due += schedule.period
    }
    delay(-schedule.end.elapsedNow())
    finished.incrementAndGet()
}

private fun count(lateness: Duration) {
    val bucket = Long.SIZE_BITS - lateness.inWholeMicroseconds.coerceAtLeast(0).countLeadingZeroBits()
    late.getAndIncrement(bucket.coerceAtMost(late.length() - 1))
}

/** A hog: it computes without waiting, and then yields, until the end. */
private suspend fun compute(schedule: Schedule) {
    while (schedule.end.hasNotPassedNow()) {
        val until = Monotonic.markNow() + schedule.hogTime
        while (until.hasNotPassedNow()) Thread.onSpinWait()
        yield()
    }
}
