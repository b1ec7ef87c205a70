/** Says which JDK this is. It is run with the preview of Java 25, which no other JDK has. */
final class Receipt {
    public static void main(String[] args) {
        System.out.println("Java " + Runtime.version() + " (" + System.getProperty("java.vm.name") + ", preview features)");
    }
}
