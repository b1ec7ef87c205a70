import cats.effect.*
import cats.effect.std.{Console, Queue}
import cats.effect.unsafe.implicits.global
import cats.syntax.all.*

/** One Cats Effect fiber per place in a ring, each with a queue of one. A token is the hops that it has left. */
object Ring:
  // Not an IOApp: that of 3.5 does not know the main thread of JDK 25, and then loses the exit code.
  def main(args: Array[String]): Unit = sys.exit(run(args.toList).unsafeRunSync().code)

  private def run(args: List[String]): IO[ExitCode] =
    val words = args match
      case List(tasks, operations)                     => List(tasks, operations, "1")
      case List(tasks, operations, "--tokens", tokens) => List(tasks, operations, tokens)
      case _                                           => Nil
    words.map(_.toIntOption) match
      case List(Some(tasks), Some(operations), Some(tokens))
          if operations >= 1 && tokens >= 1 && tokens <= tasks / 2 =>
        ring(tasks, operations, tokens)
      case _ =>
        Console[IO].errorln(
          "usage: Ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token"
        ).as(ExitCode(2))

  private def ring(tasks: Int, operations: Int, tokens: Int): IO[ExitCode] =
    for
      started    <- IO.ref(0)
      allStarted <- IO.deferred[Unit]
      noted      <- Queue.bounded[IO, Int](tokens)
      queues     <- Queue.bounded[IO, Int](1).replicateA(tasks).map(_.toVector)
      fibers <- List.range(0, tasks).traverse { number =>
                  val passing = pass(number, queues(number), queues((number + 1) % tasks), noted)
                  (countIn(tasks, started, allStarted) *> passing).start
                }
      _ <- allStarted.get
      _ <- IO.println("ready")
      _ <- List.range(0, tokens).traverse_ { token =>
             val first = token.toLong * tasks / tokens
             queues(first.toInt).offer(operations / tokens + (if token < operations % tokens then 1 else 0))
           }
      numbers <- noted.take.replicateA(tokens)
      _       <- IO.println(s"done $operations")
      _       <- IO.println(s"check ${numbers.map(_.toLong).sum}")
      _       <- fibers.traverse_(_.cancel)
    yield ExitCode.Success

  private def countIn(tasks: Int, started: Ref[IO, Int], allStarted: Deferred[IO, Unit]): IO[Unit] =
    started.updateAndGet(_ + 1).flatMap { n =>
      (IO.println(s"alive $tasks") *> allStarted.complete(())).whenA(n == tasks)
    }

  private def pass(number: Int, own: Queue[IO, Int], next: Queue[IO, Int], noted: Queue[IO, Int]): IO[Nothing] =
    own.take.flatMap(hops => if hops > 0 then next.offer(hops - 1) else noted.offer(number)).foreverM
