import cats.effect.*
import cats.effect.std.Queue
import cats.effect.unsafe.implicits.global
import cats.syntax.all.*

/** One Cats Effect fiber per place in a ring, each with a queue of one. A token is the number of its remaining hops. */
object Ring:
  // Not an IOApp: that of 3.5 does not recognize the main thread of JDK 25, and loses the exit code.
  def main(args: Array[String]): Unit =
    val tokens = args.lift(3).fold(1)(_.toInt) // --tokens
    ring(args(0).toInt, args(1).toInt, tokens).unsafeRunSync()

  private def ring(tasks: Int, operations: Int, tokens: Int): IO[Unit] =
    for
      started    <- IO.ref(0)
      allStarted <- IO.deferred[Unit]
      ends       <- Queue.bounded[IO, Int](tokens)
      queues     <- Queue.bounded[IO, Int](1).replicateA(tasks).map(_.toVector)
      fibers <- List.range(0, tasks).traverse { number =>
                  val passing = pass(number, queues(number), queues((number + 1) % tasks), ends)
                  (countIn(tasks, started, allStarted) *> passing).start
                }
      _ <- allStarted.get
      _ <- IO.println("ready")
      _ <- List.range(0, tokens).traverse_ { token =>
             val first = token.toLong * tasks / tokens
             queues(first.toInt).offer(operations / tokens + (if token < operations % tokens then 1 else 0))
           }
      numbers <- ends.take.replicateA(tokens)
      _       <- IO.println(s"done $operations")
      _       <- IO.println(s"check ${numbers.map(_.toLong).sum}")
      _       <- fibers.traverse_(_.cancel)
    yield ()

  private def countIn(tasks: Int, started: Ref[IO, Int], allStarted: Deferred[IO, Unit]): IO[Unit] =
    started.updateAndGet(_ + 1).flatMap { n =>
      (IO.println(s"alive $tasks") *> allStarted.complete(())).whenA(n == tasks)
    }

  private def pass(number: Int, own: Queue[IO, Int], next: Queue[IO, Int], ends: Queue[IO, Int]): IO[Nothing] =
    own.take.flatMap(hops => if hops > 0 then next.offer(hops - 1) else ends.offer(number)).foreverM
