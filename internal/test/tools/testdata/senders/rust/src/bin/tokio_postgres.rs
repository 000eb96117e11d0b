//! tokio-postgres: queries with and without parameters, prepared statements, portals, COPY, simple queries.
use futures_util::{pin_mut, TryStreamExt};
use senders::{begin, need, said, QUESTIONS};
use tokio_postgres::{types::Type, Config, NoTls};

#[tokio::main]
async fn main() {
    println!("tool tokio-postgres 0.7");
    let mut c = Config::new();
    c.host(need("PGHOST")).port(need("PGPORT").parse().unwrap()).user(need("PGUSER")).password(need("PGPASSWORD")).dbname(need("PGDATABASE"));
    begin("connect");
    let (mut db, connection) = match c.connect(NoTls).await {
        Ok(x) => x,
        Err(e) => return said::<(), _>("connect", Err(e)),
    };
    tokio::spawn(connection);
    println!("ok connect");
    for (name, sql) in QUESTIONS {
        begin(name);
        said(name, db.query(*sql, &[]).await);
    }
    begin("list");
    said("list", db.query("SELECT table_name FROM information_schema.tables WHERE table_schema = $1", &[&"public"]).await);
    begin("parameters");
    said("parameters", db.query("SELECT COUNT(*) FROM patients WHERE age > $1 AND diagnosis = $2 AND smoker = $3", &[&40i64, &"flu", &true]).await);
    begin("any");
    said("any", db.query("SELECT diagnosis, COUNT(*) FROM patients WHERE diagnosis = ANY($1) GROUP BY diagnosis", &[&vec!["flu", "asthma"]]).await);
    begin("dates");
    let day = chrono::NaiveDate::from_ymd_opt(2025, 3, 1).unwrap();
    said("dates", db.query("SELECT COUNT(*) FROM visits WHERE day >= $1 AND arrived < $2", &[&day, &day.and_hms_opt(12, 0, 0).unwrap()]).await);
    begin("limit");
    said("limit", db.query("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY 1 LIMIT $1", &[&2i64]).await);
    begin("typed");
    said("typed", db.query_typed("SELECT COUNT(*) FROM patients WHERE age > $1", &[(&40i64, Type::INT8)]).await);
    begin("simple");
    said("simple", db.simple_query("SELECT COUNT(*) FROM patients; SELECT COUNT(*) FROM visits").await);
    begin("prepare");
    said("prepare", db.prepare("SELECT sex, AVG(cost) FROM patients WHERE age > $1 GROUP BY sex").await);
    begin("portal");
    let portal = async {
        let t = db.transaction().await?;
        let p = t.bind("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis", &[]).await?;
        t.query_portal(&p, 2).await?;
        t.query_portal(&p, 0).await?;
        t.commit().await
    };
    said("portal", portal.await);
    begin("transaction");
    let transaction = async {
        let t = db.build_transaction().read_only(true).isolation_level(tokio_postgres::IsolationLevel::RepeatableRead).start().await?;
        t.query("SELECT COUNT(*) FROM visits", &[]).await?;
        t.commit().await
    };
    said("transaction", transaction.await);
    begin("copy");
    let copy = async {
        let s = db.copy_out("COPY (SELECT sex, COUNT(*) FROM patients GROUP BY sex) TO STDOUT (FORMAT binary)").await?;
        pin_mut!(s);
        while s.try_next().await?.is_some() {}
        Ok::<_, tokio_postgres::Error>(())
    };
    said("copy", copy.await);
}
