// Whether a class is there.
class Probe {
  public static void main(String[] a) throws Exception { Class.forName(a[0]); }
}
