import zio.*

/** One ZIO fiber per place in a ring, each with a queue of one. A token is the number of its remaining hops. */
object Ring extends ZIOAppDefault:
  def run =
    for
      args       <- getArgs
      tasks       = args(0).toInt
      operations  = args(1).toInt
      tokens      = args.lift(3).fold(1)(_.toInt) // --tokens
      started    <- Ref.make(0)
      allStarted <- Promise.make[Nothing, Unit]
      ends       <- Queue.bounded[Int](tokens)
      queues     <- ZIO.replicateZIO(tasks)(Queue.bounded[Int](1)).map(_.toIndexedSeq)
      _ <- ZIO.foreachDiscard(0 until tasks) { number =>
             val passing = pass(number, queues(number), queues((number + 1) % tasks), ends)
             (countIn(tasks, started, allStarted) *> passing).fork
           }
      _ <- allStarted.await
      _ <- Console.printLine("ready")
      _ <- ZIO.foreachDiscard(0 until tokens) { token =>
             val first = token.toLong * tasks / tokens
             queues(first.toInt).offer(operations / tokens + (if token < operations % tokens then 1 else 0))
           }
      sum <- ZIO.foldLeft(0 until tokens)(0L)((sum, _) => ends.take.map(sum + _))
      _   <- Console.printLine(s"done $operations")
      _   <- Console.printLine(s"check $sum")
    yield () // interrupts the fibers, which are children of this one

  private def countIn(tasks: Int, started: Ref[Int], allStarted: Promise[Nothing, Unit]) =
    started.incrementAndGet.flatMap { n =>
      (Console.printLine(s"alive $tasks") *> allStarted.succeed(())).when(n == tasks)
    }

  private def pass(number: Int, own: Queue[Int], next: Queue[Int], ends: Queue[Int]): UIO[Nothing] =
    own.take.flatMap(hops => if hops > 0 then next.offer(hops - 1) else ends.offer(number)).forever
