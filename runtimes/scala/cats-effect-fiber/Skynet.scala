import cats.effect.*
import cats.effect.unsafe.implicits.global
import cats.syntax.all.*

/** One Cats Effect fiber per node of a tree, which starts ten children and joins them. */
object Skynet:
  // Not an IOApp: that of 3.5 does not recognize the main thread of JDK 25, and loses the exit code.
  def main(args: Array[String]): Unit = skynet(args(0).toInt, args(1).toInt).unsafeRunSync()

  private def skynet(tasks: Int, operations: Int): IO[Unit] =
    for
      _   <- IO.println("ready")
      sum <- trees(operations / tasks, tasks, sum = 0)
      _   <- IO.println(s"done $operations")
      _   <- IO.println(s"check $sum")
    yield ()

  private def trees(count: Int, leaves: Int, sum: Long): IO[Long] =
    if count == 0 then IO.pure(sum)
    else node(0, leaves).start.flatMap(_.joinWithNever).flatMap(tree => trees(count - 1, leaves, sum + tree))

  /** The sum of the numbers of the leaves, from the first on. */
  private def node(first: Long, leaves: Int): IO[Long] =
    if leaves == 1 then IO.pure(first)
    else
      val share = leaves / 10
      for
        children <- List.range(0, 10).traverse(child => node(first + child * share, share).start)
        sums     <- children.traverse(_.joinWithNever)
      yield sums.sum
