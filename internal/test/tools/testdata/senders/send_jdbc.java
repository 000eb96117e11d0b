// PostgreSQL's JDBC driver: DatabaseMetaData, statements, cursors, COPY; and questions in the manner of Metabase.
import java.nio.file.*;
import java.sql.*;
import java.time.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

class Send {
  interface Doing { void run() throws Exception; }

  static String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
  static Connection db;

  static void step(String name, Doing d) throws Exception {
    Files.writeString(Path.of(System.getenv("DISCREET_STEP")), name);
    try {
      d.run();
      System.out.println("ok " + name);
    } catch (SQLException e) {
      System.out.println("no " + name + " | " + e.getMessage().replaceAll("\\s+", " "));
      if (db != null && !db.getAutoCommit()) db.rollback();
    }
  }

  static void all(ResultSet r) throws SQLException {
    ResultSetMetaData m = r.getMetaData();
    while (r.next()) for (int i = 1; i <= m.getColumnCount(); i++) r.getObject(i);
    r.close();
  }

  static void ask(String sql, Object... values) throws SQLException {
    try (PreparedStatement s = db.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) s.setObject(i + 1, values[i]);
      if (s.execute()) all(s.getResultSet());
    }
  }

  static Connection open(String options) throws SQLException {
    return DriverManager.getConnection(url + options, System.getenv("PGUSER"), System.getenv("PGPASSWORD"));
  }

  public static void main(String[] a) throws Exception {
    step("connect", () -> db = open(""));
    if (db == null) return;
    DatabaseMetaData m = db.getMetaData();
    System.out.println("tool " + m.getDriverName() + " " + m.getDriverVersion());
    step("list", () -> {
      all(m.getCatalogs()); all(m.getSchemas()); all(m.getSchemas(null, "pub%")); all(m.getTableTypes());
      all(m.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"})); all(m.getTables(null, null, null, null));
    });
    step("columns", () -> { all(m.getColumns(null, "public", "visits", "%")); all(m.getColumns(null, null, "%", null)); });
    step("keys", () -> {
      all(m.getPrimaryKeys(null, "public", "patients")); all(m.getImportedKeys(null, "public", "visits")); all(m.getExportedKeys(null, "public", "patients"));
      all(m.getCrossReference(null, "public", "patients", null, "public", "visits")); all(m.getIndexInfo(null, "public", "patients", false, true));
      all(m.getBestRowIdentifier(null, "public", "patients", DatabaseMetaData.bestRowSession, true)); all(m.getVersionColumns(null, "public", "patients"));
    });
    step("privileges", () -> { all(m.getTablePrivileges(null, "public", "%")); all(m.getColumnPrivileges(null, "public", "patients", "%")); });
    step("types", () -> { all(m.getTypeInfo()); all(m.getUDTs(null, null, "%", null)); });
    step("functions", () -> { all(m.getProcedures(null, "public", "%")); all(m.getFunctions(null, "public", "%")); all(m.getProcedureColumns(null, "public", "%", "%")); all(m.getFunctionColumns(null, "public", "%", "%")); });
    step("what it can", () -> { m.getDatabaseProductVersion(); m.getSQLKeywords(); m.getMaxColumnNameLength(); m.getDefaultTransactionIsolation(); all(m.getClientInfoProperties()); db.getTransactionIsolation(); db.getSchema(); db.getCatalog(); });
    step("valid", () -> db.isValid(5));
    step("client", () -> { db.setClientInfo("ApplicationName", "report"); db.setSchema("public"); db.setReadOnly(true); db.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ); });
    step("first rows", () -> ask("SELECT * FROM patients LIMIT 10"));
    step("count", () -> ask("SELECT COUNT(*) FROM patients"));
    step("group", () -> ask("SELECT diagnosis, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY diagnosis ORDER BY n DESC"));
    step("by month", () -> ask("SELECT date_trunc('month', arrived) AS month, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1"));
    step("filter", () -> ask("SELECT ward, SUM(cost) FROM visits WHERE day >= ? AND day < ? GROUP BY ward", LocalDate.of(2025, 3, 1), LocalDate.of(2025, 6, 1)));
    step("times", () -> ask("SELECT COUNT(*) FROM visits WHERE arrived >= ? AND arrived < ?", LocalDateTime.of(2025, 3, 1, 12, 0), Timestamp.valueOf("2025-06-01 00:00:00")));
    step("date", () -> ask("SELECT COUNT(*) FROM visits WHERE day = ?", java.sql.Date.valueOf("2025-03-01")));
    step("parameters", () -> ask("SELECT COUNT(*) FROM patients WHERE age > ? AND diagnosis = ? AND smoker = ? AND cost < ?", 40, "flu", true, new java.math.BigDecimal("5000.50")));
    step("any", () -> ask("SELECT diagnosis, COUNT(*) FROM patients WHERE diagnosis = ANY(?) GROUP BY diagnosis", db.createArrayOf("text", new String[] {"flu", "asthma"})));
    step("limit", () -> ask("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY 1 LIMIT ? OFFSET ?", 2, 1));
    step("join", () -> ask("SELECT p.sex, v.ward, COUNT(*) FROM patients p JOIN visits v ON p.pid = v.pid GROUP BY p.sex, v.ward"));
    step("public table", () -> ask("SELECT * FROM wards ORDER BY ward"));
    step("one person", () -> ask("SELECT * FROM patients WHERE pid = ?", 37L));
    step("again", () -> { // after five times the driver prepares it on the server and takes binary results
      try (PreparedStatement s = db.prepareStatement("SELECT sex, COUNT(*), AVG(cost), MIN(age) FROM patients WHERE age > ? GROUP BY sex")) {
        for (int i = 0; i < 7; i++) { s.setInt(1, 20); all(s.executeQuery()); }
      }
    });
    step("described", () -> { try (PreparedStatement s = db.prepareStatement("SELECT ward, AVG(cost) FROM visits WHERE day > ? GROUP BY ward")) { s.getMetaData(); s.getParameterMetaData().getParameterType(1); } });
    step("column origin", () -> { try (Statement s = db.createStatement(); ResultSet r = s.executeQuery("SELECT ward, building FROM wards")) {
      ResultSetMetaData x = r.getMetaData(); ((org.postgresql.PGResultSetMetaData) x).getBaseTableName(1); x.isNullable(1); x.isAutoIncrement(1); x.getTableName(1); } });
    step("max rows", () -> { try (Statement s = db.createStatement()) { s.setMaxRows(2); s.setQueryTimeout(60); all(s.executeQuery("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis")); } });
    step("fetch size", () -> {
      db.setAutoCommit(false);
      try (Statement s = db.createStatement()) { s.setFetchSize(2); all(s.executeQuery("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis")); }
      db.commit();
      db.setAutoCommit(true);
    });
    step("savepoint", () -> { db.setAutoCommit(false); Savepoint p = db.setSavepoint("here"); ask("SELECT COUNT(*) FROM visits"); db.rollback(p); db.rollback(); db.setAutoCommit(true); });
    step("scroll", () -> { try (Statement s = db.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY); ResultSet r = s.executeQuery("SELECT sex, COUNT(*) FROM patients GROUP BY sex")) { r.last(); r.first(); } });
    step("several", () -> { try (Statement s = db.createStatement()) { s.execute("SELECT COUNT(*) FROM patients; SELECT COUNT(*) FROM visits"); while (s.getMoreResults() || s.getUpdateCount() != -1) {} } });
    step("batch", () -> { db.setReadOnly(false); try (Statement s = db.createStatement()) { s.addBatch("SET application_name = 'a'"); s.addBatch("SET application_name = 'b'"); s.executeBatch(); } });
    step("copy", () -> { CopyManager c = ((PGConnection) db).getCopyAPI(); c.copyOut("COPY (SELECT sex, COUNT(*) FROM patients GROUP BY sex) TO STDOUT WITH (FORMAT csv)", new java.io.StringWriter()); });
    step("write", () -> ask("UPDATE patients SET age = 0 WHERE pid = ?", 37));
    step("simple mode", () -> { try (Connection c = open("?preferQueryMode=simple"); Statement s = c.createStatement()) { all(s.executeQuery("SELECT COUNT(*) FROM patients WHERE age > 40")); } });
    step("options", () -> { try (Connection c = open("?ApplicationName=etl&currentSchema=public&readOnly=true&defaultRowFetchSize=100&prepareThreshold=-1&assumeMinServerVersion=12&options=-c%20statement_timeout=60000"); Statement s = c.createStatement()) { all(s.executeQuery("SELECT sex, COUNT(*) FROM patients GROUP BY sex")); } });
    metabase();
    db.close();
  }

  // What Metabase sends over this driver, as its documents and sources have it; it is not run here.
  static void metabase() throws Exception {
    String remark = "-- Metabase:: userID: 1 queryType: MBQL queryHash: 0a1b\n";
    String p = "\"public\".\"patients\"", v = "\"public\".\"visits\"";
    step("metabase: may read", () -> ask("SELECT TRUE AS \"_\" FROM " + p + " WHERE 1 <> 1 LIMIT 0"));
    step("metabase: count", () -> ask(remark + "SELECT COUNT(*) AS \"count\" FROM " + p));
    step("metabase: by", () -> ask(remark + "SELECT " + p + ".\"diagnosis\" AS \"diagnosis\", COUNT(*) AS \"count\", AVG(" + p + ".\"age\") AS \"avg\" FROM " + p + " GROUP BY " + p + ".\"diagnosis\" ORDER BY \"count\" DESC, " + p + ".\"diagnosis\" ASC"));
    for (String g : new String[] {"minute", "hour", "week", "month", "quarter", "year"})
      step("metabase: " + g, () -> ask(remark + "SELECT DATE_TRUNC('" + g + "', " + v + ".\"arrived\") AS \"arrived\", COUNT(*) AS \"count\" FROM " + v
        + (g.equals("minute") || g.equals("hour") ? " WHERE " + v + ".\"arrived\" >= timestamp '2025-03-01 00:00:00.000' AND " + v + ".\"arrived\" < timestamp '2025-03-02 00:00:00.000'" : "")
        + " GROUP BY DATE_TRUNC('" + g + "', " + v + ".\"arrived\") ORDER BY DATE_TRUNC('" + g + "', " + v + ".\"arrived\") ASC"));
    step("metabase: day", () -> ask(remark + "SELECT CAST(" + v + ".\"arrived\" AS date) AS \"arrived\", COUNT(*) AS \"count\" FROM " + v + " GROUP BY CAST(" + v + ".\"arrived\" AS date) ORDER BY CAST(" + v + ".\"arrived\" AS date) ASC"));
    step("metabase: day of week", () -> ask(remark + "SELECT EXTRACT(dow FROM " + v + ".\"arrived\") AS \"arrived\", COUNT(*) AS \"count\" FROM " + v + " GROUP BY EXTRACT(dow FROM " + v + ".\"arrived\") ORDER BY EXTRACT(dow FROM " + v + ".\"arrived\") ASC"));
    step("metabase: bins", () -> ask(remark + "SELECT FLOOR((" + p + ".\"cost\" / 1000.0)) * 1000.0 AS \"cost\", COUNT(*) AS \"count\" FROM " + p + " GROUP BY FLOOR((" + p + ".\"cost\" / 1000.0)) * 1000.0 ORDER BY FLOOR((" + p + ".\"cost\" / 1000.0)) * 1000.0 ASC"));
    step("metabase: values", () -> ask(remark + "SELECT " + v + ".\"ward\" AS \"ward\" FROM " + v + " GROUP BY " + v + ".\"ward\" ORDER BY " + v + ".\"ward\" ASC LIMIT 1001"));
    step("metabase: filter", () -> ask(remark + "SELECT COUNT(*) AS \"count\" FROM " + p + " WHERE (" + p + ".\"sex\" = ?) AND (" + p + ".\"age\" BETWEEN 20 AND 60) AND (LOWER(" + p + ".\"diagnosis\") LIKE ?)", "F", "%a%"));
    step("metabase: join", () -> ask(remark + "SELECT \"Patients\".\"sex\" AS \"Patients__sex\", COUNT(*) AS \"count\" FROM " + v + " LEFT JOIN " + p + " AS \"Patients\" ON " + v + ".\"pid\" = \"Patients\".\"pid\" GROUP BY \"Patients\".\"sex\" ORDER BY \"Patients\".\"sex\" ASC"));
    step("metabase: nested", () -> ask(remark + "SELECT \"source\".\"ward\" AS \"ward\", COUNT(*) AS \"count\" FROM (SELECT " + v + ".\"ward\" AS \"ward\", " + v + ".\"cost\" AS \"cost\" FROM " + v + " WHERE " + v + ".\"cost\" > 100) AS \"source\" GROUP BY \"source\".\"ward\" ORDER BY \"source\".\"ward\" ASC"));
    step("metabase: distinct", () -> ask(remark + "SELECT COUNT(DISTINCT " + v + ".\"pid\") AS \"count\" FROM " + v));
    step("metabase: table", () -> ask(remark + "SELECT " + p + ".\"age\" AS \"age\", " + p + ".\"sex\" AS \"sex\" FROM " + p + " LIMIT 2000"));
    step("metabase: fingerprint", () -> ask(remark + "SELECT SUBSTRING(" + p + ".\"diagnosis\", 1, 1234) AS \"substring1\", " + p + ".\"cost\" AS \"cost\" FROM " + p + " LIMIT 10000"));
  }
}
