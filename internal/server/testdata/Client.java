import java.sql.*;
import java.util.*;

/** A JDBC client that does what tools do: look around, ask with and without parameters, be refused. It prints no noisy value. */
public class Client {
  public static void main(String[] args) throws Exception {
    Properties p = new Properties();
    p.setProperty("user", args[1]);
    p.setProperty("password", args[2]);
    try (Connection c = DriverManager.getConnection(args[0], p)) {
      DatabaseMetaData m = c.getMetaData();
      System.out.println("product " + m.getDatabaseProductName());
      list("catalog", m.getCatalogs(), "TABLE_CAT");
      list("schema", m.getSchemas(), "TABLE_SCHEM");
      list("table", m.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE");
      list("column", m.getColumns(null, "public", "patients", "%"), "COLUMN_NAME", "TYPE_NAME", "IS_NULLABLE");
      list("key", m.getPrimaryKeys(null, "public", "patients"), "COLUMN_NAME");
      list("imported", m.getImportedKeys(null, "public", "visits"), "FKCOLUMN_NAME", "PKTABLE_NAME");
      list("index", m.getIndexInfo(null, "public", "patients", false, true), "COLUMN_NAME");
      m.getTypeInfo().close();
      m.getFunctions(null, null, "%").close();

      try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT sex, COUNT(*) AS n, AVG(age) FROM patients GROUP BY sex ORDER BY sex")) {
        ResultSetMetaData d = r.getMetaData();
        for (int i = 1; i <= d.getColumnCount(); i++) System.out.println("typed " + d.getColumnName(i) + " " + d.getColumnTypeName(i));
        while (r.next()) System.out.println("row " + r.getString(1) + " " + (r.getLong(2) > 0) + " " + (r.getBigDecimal(3).doubleValue() > 0));
        for (SQLWarning w = s.getWarnings(); w != null; w = w.getNextWarning()) System.out.println("notice " + w.getMessage().split(":")[0]);
      }
      // Five executions make pgjdbc prepare on the server and ask for binary values.
      try (PreparedStatement s = c.prepareStatement("SELECT COUNT(*) FROM patients WHERE age >= ? AND sex = ? AND cost < ?")) {
        for (int i = 0; i < 8; i++) {
          s.setInt(1, 40);
          s.setString(2, "F");
          s.setBigDecimal(3, new java.math.BigDecimal("2500.50"));
          try (ResultSet r = s.executeQuery()) {
            r.next();
            System.out.println("prepared " + (r.getLong(1) > 0));
          }
        }
      }
      try (PreparedStatement s = c.prepareStatement("SELECT COUNT(*) FROM visits WHERE day >= ?")) {
        s.setDate(1, java.sql.Date.valueOf("2025-06-01"));
        try (ResultSet r = s.executeQuery()) {
          r.next();
          System.out.println("dated " + (r.getLong(1) > 0));
        }
      }
      c.setAutoCommit(false);
      try (Statement s = c.createStatement()) {
        s.setFetchSize(2);
        int n = 0;
        try (ResultSet r = s.executeQuery("SELECT zip, COUNT(*) FROM patients GROUP BY zip")) {
          while (r.next()) n++;
        }
        System.out.println("fetched " + n);
        try {
          s.executeQuery("SELECT pid, age FROM patients");
        } catch (SQLException e) {
          System.out.println("refused " + e.getSQLState());
        }
        try {
          s.executeQuery("SELECT 1");
        } catch (SQLException e) {
          System.out.println("aborted " + e.getSQLState());
        }
        c.rollback();
        c.setReadOnly(true);
        System.out.println("valid " + c.isValid(5));
      }
    }
    try (Connection c = DriverManager.getConnection(args[0], args[1], "wrong")) {
      System.out.println("let in");
    } catch (SQLException e) {
      System.out.println("wrong password " + e.getSQLState());
    }
  }

  static void list(String what, ResultSet r, String... columns) throws SQLException {
    while (r.next()) {
      StringBuilder b = new StringBuilder(what);
      for (String c : columns) b.append(' ').append(r.getString(c));
      System.out.println(b);
    }
    r.close();
  }
}
