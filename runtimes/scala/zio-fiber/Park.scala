import zio.*

/** One ZIO fiber per task, each waiting for one message. */
object Park extends ZIOAppDefault:
  def run =
    for
      begin     <- Clock.nanoTime
      args      <- getArgs
      tasks      = args(0).toInt
      wait       = args(1).toInt.seconds
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
