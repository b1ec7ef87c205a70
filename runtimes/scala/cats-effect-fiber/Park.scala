import cats.effect.*
import cats.effect.unsafe.implicits.global
import cats.syntax.all.*
import scala.concurrent.duration.*

/** One Cats Effect fiber per task, each waiting for one message. */
object Park:
  // Not an IOApp: that of 3.5 does not recognize the main thread of JDK 25, and loses the exit code.
  def main(args: Array[String]): Unit = park(args(0).toInt, args(1).toInt.seconds).unsafeRunSync()

  private def park(tasks: Int, wait: FiniteDuration): IO[Unit] =
    for
      begin     <- IO.monotonic
      started   <- IO.ref(0)
      finished  <- IO.ref(0)
      mailboxes <- IO.deferred[Unit].replicateA(tasks)
      fibers    <- mailboxes.traverse(task(tasks, _, started, finished).start)
      now       <- IO.monotonic
      _         <- IO.sleep(begin + wait - now)
      _         <- mailboxes.traverse_(_.complete(()))
      _         <- fibers.traverse_(_.joinWithNever)
      done      <- finished.get
      _         <- IO.println(s"done $done")
    yield ()

  private def task(tasks: Int, mailbox: Deferred[IO, Unit], started: Ref[IO, Int], finished: Ref[IO, Int]): IO[Unit] =
    for
      n <- started.updateAndGet(_ + 1)
      _ <- finished.get.flatMap(f => IO.println(s"alive ${tasks - f}")).whenA(n == tasks)
      _ <- mailbox.get
      _ <- finished.update(_ + 1)
    yield ()
