import cats.effect.*
import cats.effect.unsafe.implicits.global
import cats.syntax.all.*
import scala.concurrent.duration.*

/** One Cats Effect fiber per task. */
object Sleep:
  // Not an IOApp: that of 3.5 does not recognize the main thread of JDK 25, and loses the exit code.
  def main(args: Array[String]): Unit = sleep(args(0).toInt, args(1).toInt.seconds).unsafeRunSync()

  private def sleep(tasks: Int, wait: FiniteDuration): IO[Unit] =
    for
      started  <- IO.ref(0)
      finished <- IO.ref(0)
      fibers   <- task(tasks, wait, started, finished).start.replicateA(tasks)
      _        <- fibers.traverse_(_.joinWithNever)
      done     <- finished.get
      _        <- IO.println(s"done $done")
    yield ()

  private def task(tasks: Int, wait: FiniteDuration, started: Ref[IO, Int], finished: Ref[IO, Int]): IO[Unit] =
    for
      n <- started.updateAndGet(_ + 1)
      _ <- finished.get.flatMap(f => IO.println(s"alive ${tasks - f}")).whenA(n == tasks)
      _ <- IO.sleep(wait)
      _ <- finished.update(_ + 1)
    yield ()
