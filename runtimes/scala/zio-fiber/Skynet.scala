import zio.*

/** One ZIO fiber per node of a tree, which forks ten children and joins them. */
object Skynet extends ZIOAppDefault:
  def run =
    for
      args      <- getArgs
      tasks      = args(0).toInt
      operations = args(1).toInt
      _         <- Console.printLine("ready")
      sum       <- trees(operations / tasks, tasks, sum = 0)
      _         <- Console.printLine(s"done $operations")
      _         <- Console.printLine(s"check $sum")
    yield ()

  private def trees(count: Int, leaves: Int, sum: Long): UIO[Long] =
    if count == 0 then ZIO.succeed(sum)
    else node(0, leaves).fork.flatMap(_.join).flatMap(tree => trees(count - 1, leaves, sum + tree))

  /** The sum of the numbers of the leaves, from the first on. */
  private def node(first: Long, leaves: Int): UIO[Long] =
    if leaves == 1 then ZIO.succeed(first)
    else
      val share = leaves / 10
      for
        children <- ZIO.foreach(0 until 10)(child => node(first + child * share, share).fork)
        sums     <- ZIO.foreach(children)(_.join)
      yield sums.sum
