// jOOQ: its generator of code, its SQL, multisets.
import static org.jooq.impl.DSL.*;

import java.math.BigDecimal;

import java.sql.*;
import java.time.LocalDate;
import org.jooq.*;
import org.jooq.Record;
import org.jooq.codegen.GenerationTool;
import org.jooq.impl.DSL;
import org.jooq.meta.jaxb.*;

class Send {
  interface Doing { void run() throws Exception; }

  static String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
  static Connection db;

  static void step(String name, Doing does) throws Exception {
    java.nio.file.Files.writeString(java.nio.file.Path.of(System.getenv("DISCREET_STEP")), name);
    try {
      does.run();
      System.out.println("ok " + name);
    } catch (Throwable e) {
      Throwable c = e;
      while (c.getCause() != null) c = c.getCause();
      System.out.println("no " + name + " | " + c.getClass().getSimpleName() + ": " + String.valueOf(c.getMessage()).replaceAll("\\s+", " "));
    }
  }

  public static void main(String[] a) throws Exception {
    System.setProperty("org.jooq.no-logo", "true");
    System.setProperty("org.jooq.no-tips", "true");
    System.out.println("tool jOOQ " + org.jooq.Constants.FULL_VERSION + ", PostgreSQL JDBC Driver " + org.postgresql.util.DriverInfo.DRIVER_VERSION);
    step("connect", () -> db = DriverManager.getConnection(url, System.getenv("PGUSER"), System.getenv("PGPASSWORD")));
    if (db == null) return;
    step("generate", () -> GenerationTool.generate(new org.jooq.meta.jaxb.Configuration().withLogging(org.jooq.meta.jaxb.Logging.ERROR).withOnError(OnError.FAIL)
        .withJdbc(new Jdbc().withDriver("org.postgresql.Driver").withUrl(url).withUser(System.getenv("PGUSER")).withPassword(System.getenv("PGPASSWORD")))
        .withGenerator(new org.jooq.meta.jaxb.Generator().withDatabase(new org.jooq.meta.jaxb.Database().withName("org.jooq.meta.postgres.PostgresDatabase").withInputSchema("public"))
            .withTarget(new Target().withPackageName("hospital").withDirectory(System.getenv("DISCREET_SCRATCH"))))));
    DSLContext dsl = DSL.using(db, SQLDialect.POSTGRES);
    Table<Record> patients = table(name("patients")), visits = table(name("visits")), wards = table(name("wards"));
    Field<Long> pid = field(name("patients", "pid"), Long.class), age = field(name("patients", "age"), Long.class), visitor = field(name("visits", "pid"), Long.class);
    Field<String> sex = field(name("patients", "sex"), String.class), diagnosis = field(name("patients", "diagnosis"), String.class), ward = field(name("visits", "ward"), String.class);
    Field<BigDecimal> cost = field(name("visits", "cost"), BigDecimal.class);
    Field<LocalDate> day = field(name("visits", "day"), LocalDate.class);
    step("meta", () -> dsl.meta().getTables());
    step("first rows", () -> dsl.selectFrom(patients).limit(10).fetch());
    step("fetch exists", () -> dsl.fetchExists(patients, age.gt(40L)));
    step("fetch count", () -> dsl.fetchCount(patients, age.gt(40L)));
    step("group", () -> dsl.select(diagnosis, count(), avg(age)).from(patients).groupBy(diagnosis).orderBy(count().desc()).fetch());
    step("sum", () -> dsl.select(sum(age), sum(cost)).from(patients).join(visits).on(visitor.eq(pid)).fetch());
    step("filter", () -> dsl.select(sex, count().filterWhere(age.ge(65L))).from(patients).groupBy(sex).fetch());
    step("case", () -> dsl.select(count(case_().when(age.ge(65L), pid)), sum(iif(age.ge(65L), 1, 0))).from(patients).fetch());
    step("by month", () -> dsl.select(trunc(day, DatePart.MONTH), count()).from(visits).groupBy(trunc(day, DatePart.MONTH)).fetch());
    step("extract", () -> dsl.select(month(day), count()).from(visits).groupBy(month(day)).fetch());
    step("exists", () -> dsl.selectCount().from(patients).where(exists(selectOne().from(visits).where(visitor.eq(pid)))).fetch());
    step("any", () -> dsl.selectCount().from(patients).where(pid.eq(any(select(visitor).from(visits).where(ward.eq("surgery"))))).fetch());
    step("like", () -> dsl.selectCount().from(patients).where(diagnosis.startsWith("f").or(diagnosis.containsIgnoreCase("A"))).fetch());
    step("percentile", () -> dsl.select(percentileCont(0.5).withinGroupOrderBy(age), median(age)).from(patients).fetch());
    step("ties", () -> dsl.select(diagnosis, count()).from(patients).groupBy(diagnosis).orderBy(count().desc()).limit(3).withTies().fetch());
    step("values", () -> dsl.select().from(values(row(1, "a"), row(2, "b")).as("t", "n", "s")).fetch());
    step("series", () -> dsl.select().from(generateSeries(1, 5)).fetch());
    step("derived", () -> dsl.select(field(name("t", "s")), field(name("t", "n"))).from(select(sex, count()).from(patients).groupBy(sex).asTable("t", "s", "n")).fetch());
    step("multiset", () -> dsl.select(field(name("wards", "ward")), multiset(select(sex, count()).from(patients).groupBy(sex))).from(wards).fetch());
    step("json", () -> dsl.select(jsonArrayAgg(jsonObject(key("s").value(field(name("s"))), key("n").value(field(name("n")))))).from(select(sex.as("s"), count().as("n")).from(patients).groupBy(sex)).fetch());
    step("rank", () -> dsl.select(diagnosis, count(), rank().over(orderBy(count().desc()))).from(patients).groupBy(diagnosis).fetch());
    step("public table", () -> dsl.selectFrom(wards).orderBy(1).fetch());
    step("public exists", () -> dsl.fetchExists(wards));
    step("write", () -> dsl.deleteFrom(wards).execute());
    db.close();
  }
}
