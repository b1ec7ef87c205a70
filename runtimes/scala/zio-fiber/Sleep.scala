import zio.*

/** One ZIO fiber per task. */
object Sleep extends ZIOAppDefault:
  def run =
    for
      args     <- getArgs
      tasks     = args(0).toInt
      wait      = args(1).toInt.seconds
      started  <- Ref.make(0)
      finished <- Ref.make(0)
      _        <- ZIO.foreachParDiscard(1 to tasks)(_ => task(tasks, wait, started, finished))
      done     <- finished.get
      _        <- Console.printLine(s"done $done")
    yield ()

  private def task(tasks: Int, wait: Duration, started: Ref[Int], finished: Ref[Int]) =
    for
      n <- started.incrementAndGet
      _ <- finished.get.flatMap(f => Console.printLine(s"alive ${tasks - f}")).when(n == tasks)
      _ <- ZIO.sleep(wait)
      _ <- finished.update(_ + 1)
    yield ()
