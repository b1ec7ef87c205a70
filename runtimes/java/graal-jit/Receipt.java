/** Says which JDK this is, if it is one that the pinned Graal compiler fits. */
final class Receipt {
    public static void main(String[] args) {
        Runtime.Version version = Runtime.version();
        if (version.feature() != 25) {
            System.err.println("Graal 25 needs a JDK 25, and this is " + version);
            System.exit(1);
        }
        System.out.println("Java " + version + " (" + System.getProperty("java.vm.name") + " with JVMCI)");
    }
}
