import cats.effect.*
import cats.effect.unsafe.implicits.global
import cats.syntax.all.*

/** One Cats Effect fiber per operation, started and joined for its result. */
object Spawn:
  // Not an IOApp: that of 3.5 does not recognize the main thread of JDK 25, and loses the exit code.
  def main(args: Array[String]): Unit = spawn(args(0).toInt, args(1).toInt).unsafeRunSync()

  private def spawn(tasks: Int, operations: Int): IO[Unit] =
    for
      _   <- IO.println("ready")
      sum <- rounds(tasks, operations, first = 0, sum = 0)
      _   <- IO.println(s"done $operations")
      _   <- IO.println(s"check $sum")
    yield ()

  private def rounds(tasks: Int, operations: Int, first: Int, sum: Long): IO[Long] =
    if first == operations then IO.pure(sum)
    else
      val next = first + tasks.min(operations - first)
      List.range(first, next).traverse(number => IO.pure(number.toLong).start)
        .flatMap(_.traverse(_.joinWithNever))
        .flatMap(numbers => rounds(tasks, operations, next, sum + numbers.sum))
