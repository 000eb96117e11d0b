//! Diesel: its query builder with static types, which reads results in binary.
use diesel::dsl::{avg, count, count_distinct, count_star, exists, max, sql, sum};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Double, Numeric, Text};
use senders::{begin, need, said};

diesel::table! { patients (pid) { pid -> BigInt, age -> BigInt, sex -> Nullable<Text>, diagnosis -> Nullable<Text>, smoker -> Nullable<Bool>, cost -> Nullable<Numeric>, } }
diesel::table! { visits (pid) { pid -> BigInt, day -> Nullable<Date>, arrived -> Nullable<Timestamp>, ward -> Nullable<Text>, cost -> Nullable<Numeric>, } }
diesel::table! { wards (ward) { ward -> Text, building -> Nullable<Text>, beds -> Nullable<BigInt>, } }
diesel::allow_tables_to_appear_in_same_query!(patients, visits, wards);

macro_rules! step {
    ($name:expr, $doing:expr) => {
        begin($name);
        said($name, $doing);
    };
}

fn main() {
    println!("tool diesel 2.2");
    let url = format!("postgres://{}:{}@{}:{}/{}", need("PGUSER"), need("PGPASSWORD"), need("PGHOST"), need("PGPORT"), need("PGDATABASE"));
    begin("connect");
    let mut db = match PgConnection::establish(&url) {
        Ok(x) => x,
        Err(e) => return said::<(), _>("connect", Err(e)),
    };
    println!("ok connect");
    let db = &mut db;
    step!("first rows", patients::table.select((patients::age, patients::sex)).limit(10).load::<(i64, Option<String>)>(db));
    step!("one person", patients::table.find(37).select(patients::age).first::<i64>(db));
    step!("exists", diesel::select(exists(patients::table.filter(patients::age.gt(40)))).get_result::<bool>(db));
    step!("count", patients::table.count().get_result::<i64>(db));
    step!("count where", patients::table.filter(patients::age.gt(40)).filter(patients::diagnosis.eq_any(["flu", "asthma"])).count().get_result::<i64>(db));
    step!("like", patients::table.filter(patients::diagnosis.like("f%")).count().get_result::<i64>(db));
    step!("group", patients::table.group_by(patients::diagnosis).select((patients::diagnosis, count_star())).load::<(Option<String>, i64)>(db));
    step!("sum", patients::table.select(sum(patients::age)).first::<Option<bigdecimal::BigDecimal>>(db));
    step!("average", patients::table.select(avg(patients::age)).first::<Option<bigdecimal::BigDecimal>>(db));
    step!("sum of numeric", visits::table.select(sum(visits::cost)).first::<Option<bigdecimal::BigDecimal>>(db));
    step!("sum of case", patients::table.select(sql::<Numeric>("sum(CASE WHEN smoker THEN 1::bigint ELSE 0 END)")).first::<bigdecimal::BigDecimal>(db));
    step!("sum as bigint", patients::table.select(sql::<BigInt>("sum(CASE WHEN smoker THEN 1::bigint ELSE 0 END)::bigint")).first::<i64>(db));
    step!("percentile", patients::table.select(sql::<Double>("percentile_cont(0.5) WITHIN GROUP (ORDER BY age)")).first::<f64>(db));
    step!("largest", patients::table.select(max(patients::age)).first::<Option<i64>>(db));
    step!("people", visits::table.select(count_distinct(visits::pid)).first::<i64>(db));
    step!("dates", visits::table.filter(visits::day.ge(chrono::NaiveDate::from_ymd_opt(2025, 3, 1).unwrap())).count().get_result::<i64>(db));
    step!("by month", visits::table.group_by(sql::<diesel::sql_types::Timestamp>("date_trunc('month', arrived)")).select((sql::<diesel::sql_types::Timestamp>("date_trunc('month', arrived)"), count(visits::pid))).load::<(chrono::NaiveDateTime, i64)>(db));
    step!("in subquery", patients::table.filter(patients::pid.eq_any(visits::table.filter(visits::ward.eq("surgery")).select(visits::pid))).count().get_result::<i64>(db));
    step!("public table", wards::table.order(wards::ward).load::<(String, Option<String>, Option<i64>)>(db));
    step!("public exists", diesel::select(exists(wards::table.filter(wards::ward.eq("surgery")))).get_result::<bool>(db));
    step!("raw", diesel::sql_query("SELECT sex AS name, COUNT(*) AS n FROM patients WHERE age > $1 GROUP BY sex").bind::<BigInt, _>(40).load::<Row>(db));
    step!("transaction", db.transaction(|c| patients::table.count().get_result::<i64>(c)));
    step!("write", diesel::insert_into(wards::table).values((wards::ward.eq("new"), wards::building.eq("east"))).execute(db));
}

#[derive(QueryableByName)]
#[allow(dead_code)]
struct Row {
    #[diesel(sql_type = diesel::sql_types::Nullable<Text>)]
    name: Option<String>,
    #[diesel(sql_type = BigInt)]
    n: i64,
}
