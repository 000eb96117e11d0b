// Whether the driver is there.
class Probe {
  public static void main(String[] a) throws Exception { Class.forName("org.postgresql.Driver"); }
}
