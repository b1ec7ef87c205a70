import cats.effect.*
import cats.effect.std.Console
import cats.effect.unsafe.implicits.global
import cats.syntax.all.*

/** One Cats Effect fiber per node of a tree, which starts ten more and joins them. */
object Skynet:
  // Not an IOApp: that of 3.5 does not know the main thread of JDK 25, and then loses the exit code.
  def main(args: Array[String]): Unit = sys.exit(run(args.toList).unsafeRunSync().code)

  private def run(args: List[String]): IO[ExitCode] = args.map(_.toIntOption) match
    case List(Some(tasks), Some(operations))
        if args.head.matches("10*") && operations >= 1 && operations % tasks == 0 =>
      skynet(tasks, operations)
    case _ =>
      Console[IO].errorln("usage: Skynet <tasks> <operations>: a power of ten, and a multiple of it").as(ExitCode(2))

  private def skynet(tasks: Int, operations: Int): IO[ExitCode] =
    for
      _   <- IO.println("ready")
      sum <- trees(operations / tasks, tasks, sum = 0)
      _   <- IO.println(s"done $operations")
      _   <- IO.println(s"check $sum")
    yield ExitCode.Success

  private def trees(count: Int, leaves: Int, sum: Long): IO[Long] =
    if count == 0 then IO.pure(sum)
    else node(0, leaves).start.flatMap(_.joinWithNever).flatMap(tree => trees(count - 1, leaves, sum + tree))

  /** The sum of so many leaves from a number on. */
  private def node(first: Long, leaves: Int): IO[Long] =
    if leaves == 1 then IO.pure(first)
    else
      val share = leaves / 10
      for
        children <- List.range(0, 10).traverse(child => node(first + child * share, share).start)
        sums     <- children.traverse(_.joinWithNever)
      yield sums.sum
