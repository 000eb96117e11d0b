// Hibernate: mapped entities, its query language, its criteria, validation of a schema.
import jakarta.persistence.*;
import java.math.BigDecimal;
import java.nio.file.*;
import java.time.*;
import java.util.*;
import java.util.function.Consumer;
import org.hibernate.*;
import org.hibernate.cfg.Configuration;

class Send {
  @Entity(name = "Patient") @Table(name = "patients")
  static class Patient { @Id long pid; long age; @Column(columnDefinition = "text") String sex; @Column(columnDefinition = "text") String diagnosis; Boolean smoker; BigDecimal cost; }
  @Entity(name = "Visit") @Table(name = "visits")
  static class Visit { @Id LocalDateTime arrived; long pid; LocalDate day; @Column(columnDefinition = "text") String ward; BigDecimal cost; }
  @Entity(name = "Ward") @Table(name = "wards")
  static class Ward { @Id @Column(columnDefinition = "text") String ward; @Column(columnDefinition = "text") String building; long beds; }

  static SessionFactory factory;

  static void step(String name, Runnable does) throws Exception {
    Files.writeString(Path.of(System.getenv("DISCREET_STEP")), name);
    try {
      does.run();
      System.out.println("ok " + name);
    } catch (Throwable e) {
      Throwable c = e;
      while (c.getCause() != null) c = c.getCause();
      System.out.println("no " + name + " | " + c.getClass().getSimpleName() + ": " + String.valueOf(c.getMessage()).replaceAll("\\s+", " "));
    }
  }

  static void in(Consumer<Session> does) {
    factory.inTransaction(does);
  }

  static void ask(String name, String hql, Object... values) throws Exception {
    step(name, () -> in(s -> {
      var q = s.createQuery(hql, Object[].class);
      for (int i = 0; i < values.length; i++) q.setParameter(i + 1, values[i]);
      q.getResultList();
    }));
  }

  static Configuration configuration(String action) {
    return new Configuration().addAnnotatedClass(Patient.class).addAnnotatedClass(Visit.class).addAnnotatedClass(Ward.class)
        .setProperty("hibernate.connection.url", "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE"))
        .setProperty("hibernate.connection.username", System.getenv("PGUSER")).setProperty("hibernate.connection.password", System.getenv("PGPASSWORD"))
        .setProperty("hibernate.hbm2ddl.auto", action).setProperty("hibernate.connection.pool_size", "2");
  }

  public static void main(String[] a) throws Exception {
    System.out.println("tool Hibernate " + org.hibernate.Version.getVersionString() + ", PostgreSQL JDBC Driver " + org.postgresql.util.DriverInfo.DRIVER_VERSION);
    Thread.currentThread().setContextClassLoader(Send.class.getClassLoader()); // which has the entities
    java.util.logging.LogManager.getLogManager().reset();
    step("connect", () -> factory = configuration("none").buildSessionFactory());
    if (factory == null) return;
    step("validate", () -> configuration("validate").buildSessionFactory().close());
    step("first rows", () -> in(s -> s.createQuery("from Patient", Patient.class).setMaxResults(10).getResultList()));
    step("one person", () -> in(s -> s.find(Patient.class, 37L)));
    step("count", () -> in(s -> s.createQuery("select count(*) from Patient", Long.class).getSingleResult()));
    step("sum", () -> in(s -> s.createQuery("select sum(p.age) from Patient p", Long.class).getSingleResult()));
    step("average", () -> in(s -> s.createQuery("select avg(p.cost) from Patient p", Double.class).getSingleResult()));
    ask("group", "select p.diagnosis, count(p), avg(p.age) from Patient p group by p.diagnosis order by count(p) desc");
    ask("parameters", "select p.sex, count(p) from Patient p where p.age > ?1 and p.diagnosis in (?2, ?3) group by p.sex", 40L, "flu", "asthma");
    ask("like", "select count(p), 1 from Patient p where p.diagnosis like ?1 or lower(p.diagnosis) like ?2", "f%", "%a%");
    ask("case", "select sum(case when p.smoker = true then 1 else 0 end), count(case when p.age >= 65 then p.pid end) from Patient p");
    ask("filter", "select count(p) filter (where p.age >= 65), max(p.age) from Patient p");
    ask("by month", "select year(v.day), month(v.day), count(v) from Visit v group by year(v.day), month(v.day)");
    ask("truncated", "select truncate(v.arrived, month), count(v) from Visit v group by truncate(v.arrived, month)");
    ask("dates", "select v.ward, sum(v.cost) from Visit v where v.day between ?1 and ?2 group by v.ward", LocalDate.of(2025, 3, 1), LocalDate.of(2025, 5, 31));
    ask("join", "select p.sex, count(v) from Patient p join Visit v on v.pid = p.pid group by p.sex");
    ask("exists", "select count(p), 1 from Patient p where exists (select 1 from Visit v where v.pid = p.pid and v.ward = 'surgery')");
    ask("in subquery", "select count(p), 1 from Patient p where p.pid in (select v.pid from Visit v where v.ward = 'surgery')");
    ask("any", "select count(p), 1 from Patient p where p.pid = any (select v.pid from Visit v where v.ward = 'surgery')");
    ask("concat", "select p.sex || '-' || p.diagnosis, count(p) from Patient p group by p.sex || '-' || p.diagnosis");
    ask("people", "select v.ward, count(distinct v.pid) from Visit v group by v.ward");
    step("page", () -> in(s -> s.createQuery("select p.diagnosis, count(p) from Patient p group by p.diagnosis order by p.diagnosis", Object[].class).setFirstResult(2).setMaxResults(2).getResultList()));
    step("public table", () -> in(s -> s.createQuery("from Ward order by ward", Ward.class).getResultList()));
    step("public one", () -> in(s -> s.find(Ward.class, "surgery")));
    step("public sum", () -> in(s -> s.createQuery("select sum(w.beds) from Ward w", Long.class).getSingleResult()));
    step("native", () -> in(s -> s.createNativeQuery("SELECT sex, COUNT(*) FROM patients GROUP BY sex", Object[].class).getResultList()));
    step("criteria", () -> in(s -> {
      var b = s.getCriteriaBuilder();
      var q = b.createTupleQuery();
      var p = q.from(Patient.class);
      q.multiselect(p.get("sex"), b.count(p), b.avg(p.get("age"))).where(b.gt(p.get("age"), 20)).groupBy(p.get("sex"));
      s.createQuery(q).getResultList();
    }));
    step("write", () -> in(s -> { var w = new Ward(); w.ward = "new"; w.building = "east"; s.persist(w); }));
    factory.close();
  }
}
