import zio.*

/** One ZIO fiber per operation, forked and joined for its result. */
object Spawn extends ZIOAppDefault:
  def run =
    for
      args      <- getArgs
      tasks      = args(0).toInt
      operations = args(1).toInt
      _         <- Console.printLine("ready")
      sum       <- rounds(tasks, operations, first = 0, sum = 0)
      _         <- Console.printLine(s"done $operations")
      _         <- Console.printLine(s"check $sum")
    yield ()

  private def rounds(tasks: Int, operations: Int, first: Int, sum: Long): UIO[Long] =
    if first == operations then ZIO.succeed(sum)
    else
      val next = first + tasks.min(operations - first)
      ZIO.foreach(first until next)(number => ZIO.succeed(number.toLong).fork)
        .flatMap(fibers => ZIO.foreach(fibers)(_.join))
        .flatMap(numbers => rounds(tasks, operations, next, sum + numbers.sum))
