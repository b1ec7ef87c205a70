import zio.*

/** One ZIO fiber per task, each waiting for one message. */
object Park extends ZIOAppDefault:
  def run = getArgs.map(_.map(_.toIntOption)).flatMap {
    case Chunk(Some(tasks), Some(seconds)) if tasks >= 1 && seconds >= 0 => park(tasks, seconds.seconds)
    case _ =>
      Console.printLineError("usage: Park <tasks> <seconds>: whole numbers, at least one task") *> exit(ExitCode(2))
  }

  private def park(tasks: Int, wait: Duration) =
    for
      begin     <- Clock.nanoTime
      started   <- Ref.make(0)
      finished  <- Ref.make(0)
      mailboxes <- ZIO.replicateZIO(tasks)(Promise.make[Nothing, Unit])
      fibers    <- ZIO.foreach(mailboxes)(task(tasks, _, started, finished).fork)
      now       <- Clock.nanoTime
      _         <- ZIO.sleep(wait.minusNanos(now - begin))
      _         <- ZIO.foreachDiscard(mailboxes)(_.succeed(()))
      _         <- ZIO.foreachDiscard(fibers)(_.join)
      done      <- finished.get
      _         <- Console.printLine(s"done $done")
    yield ()

  private def task(tasks: Int, mailbox: Promise[Nothing, Unit], started: Ref[Int], finished: Ref[Int]) =
    for
      n <- started.incrementAndGet
      _ <- finished.get.flatMap(f => Console.printLine(s"alive ${tasks - f}")).when(n == tasks)
      _ <- mailbox.await
      _ <- finished.update(_ + 1)
    yield ()
