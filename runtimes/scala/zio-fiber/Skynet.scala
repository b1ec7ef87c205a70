import zio.*

/** One ZIO fiber per node of a tree, which forks ten more and joins them. */
object Skynet extends ZIOAppDefault:
  def run = getArgs.map(args => (args, args.map(_.toIntOption))).flatMap {
    case (args, Chunk(Some(tasks), Some(operations)))
        if args.head.matches("10*") && operations >= 1 && operations % tasks == 0 =>
      skynet(tasks, operations)
    case _ =>
      Console.printLineError("usage: Skynet <tasks> <operations>: a power of ten, and a multiple of it") *> exit(ExitCode(2))
  }

  private def skynet(tasks: Int, operations: Int) =
    for
      _   <- Console.printLine("ready")
      sum <- trees(operations / tasks, tasks, sum = 0)
      _   <- Console.printLine(s"done $operations")
      _   <- Console.printLine(s"check $sum")
    yield ()

  private def trees(count: Int, leaves: Int, sum: Long): UIO[Long] =
    if count == 0 then ZIO.succeed(sum)
    else node(0, leaves).fork.flatMap(_.join).flatMap(tree => trees(count - 1, leaves, sum + tree))

  /** The sum of so many leaves from a number on. */
  private def node(first: Long, leaves: Int): UIO[Long] =
    if leaves == 1 then ZIO.succeed(first)
    else
      val share = leaves / 10
      for
        children <- ZIO.foreach(0 until 10)(child => node(first + child * share, share).fork)
        sums     <- ZIO.foreach(children)(_.join)
      yield sums.sum
