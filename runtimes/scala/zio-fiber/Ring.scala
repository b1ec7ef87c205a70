import zio.*

/** One ZIO fiber per place in a ring, each with a queue of one. A token is the hops that it has left. */
object Ring extends ZIOAppDefault:
  def run = getArgs.map {
    case Chunk(tasks, operations)                     => List(tasks, operations, "1")
    case Chunk(tasks, operations, "--tokens", tokens) => List(tasks, operations, tokens)
    case _                                            => Nil
  }.map(_.map(_.toIntOption)).flatMap {
    case List(Some(tasks), Some(operations), Some(tokens)) if operations >= 1 && tokens >= 1 && tokens <= tasks / 2 =>
      ring(tasks, operations, tokens)
    case _ =>
      Console.printLineError(
        "usage: Ring <tasks> <operations> [--tokens <tokens>]: whole numbers, at least two tasks for each token"
      ) *> exit(ExitCode(2))
  }

  private def ring(tasks: Int, operations: Int, tokens: Int) =
    for
      started    <- Ref.make(0)
      allStarted <- Promise.make[Nothing, Unit]
      noted      <- Queue.bounded[Int](tokens)
      queues     <- ZIO.replicateZIO(tasks)(Queue.bounded[Int](1)).map(_.toIndexedSeq)
      _ <- ZIO.foreachDiscard(0 until tasks) { number =>
             (countIn(tasks, started, allStarted) *> pass(number, queues(number), queues((number + 1) % tasks), noted)).fork
           }
      _ <- allStarted.await
      _ <- Console.printLine("ready")
      _ <- ZIO.foreachDiscard(0 until tokens) { token =>
             val first = token.toLong * tasks / tokens
             queues(first.toInt).offer(operations / tokens + (if token < operations % tokens then 1 else 0))
           }
      sum <- ZIO.foldLeft(0 until tokens)(0L)((sum, _) => noted.take.map(sum + _))
      _   <- Console.printLine(s"done $operations")
      _   <- Console.printLine(s"check $sum")
    yield () // the fibers are interrupted with the one that forked them

  private def countIn(tasks: Int, started: Ref[Int], allStarted: Promise[Nothing, Unit]) =
    started.incrementAndGet.flatMap { n =>
      (Console.printLine(s"alive $tasks") *> allStarted.succeed(())).when(n == tasks)
    }

  private def pass(number: Int, own: Queue[Int], next: Queue[Int], noted: Queue[Int]): UIO[Nothing] =
    own.take.flatMap(hops => if hops > 0 then next.offer(hops - 1) else noted.offer(number)).forever
