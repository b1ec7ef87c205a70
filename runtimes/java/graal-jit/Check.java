import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Works until the log that it is given shows that Graal compiles it, or fails after a minute. */
final class Check {
    public static void main(String[] args) throws IOException {
        Path log = Path.of(args[0]);
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (System.nanoTime() - deadline < 0) {
            if (Files.exists(log) && Files.readString(log).contains("Graal Community compiler")) {
                System.out.print(Files.readString(log));
                return;
            }
        }
        System.err.println("Graal did not compile anything within a minute");
        System.exit(1);
    }
}
