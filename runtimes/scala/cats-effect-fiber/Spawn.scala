import cats.effect.*
import cats.effect.std.Console
import cats.effect.unsafe.implicits.global
import cats.syntax.all.*

/** One Cats Effect fiber per operation, started and joined for its result. */
object Spawn:
  // Not an IOApp: that of 3.5 does not know the main thread of JDK 25, and then loses the exit code.
  def main(args: Array[String]): Unit = sys.exit(run(args.toList).unsafeRunSync().code)

  private def run(args: List[String]): IO[ExitCode] = args.map(_.toIntOption) match
    case List(Some(tasks), Some(operations)) if tasks >= 1 && operations >= 1 => spawn(tasks, operations)
    case _ =>
      Console[IO].errorln("usage: Spawn <tasks> <operations>: whole numbers, at least one of each").as(ExitCode(2))

  private def spawn(tasks: Int, operations: Int): IO[ExitCode] =
    for
      _   <- IO.println("ready")
      sum <- rounds(tasks, operations, first = 0, sum = 0)
      _   <- IO.println(s"done $operations")
      _   <- IO.println(s"check $sum")
    yield ExitCode.Success

  private def rounds(tasks: Int, operations: Int, first: Int, sum: Long): IO[Long] =
    if first == operations then IO.pure(sum)
    else
      val next = first + tasks.min(operations - first)
      List.range(first, next).traverse(number => IO.pure(number.toLong).start)
        .flatMap(_.traverse(_.joinWithNever))
        .flatMap(numbers => rounds(tasks, operations, next, sum + numbers.sum))
