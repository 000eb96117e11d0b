//! sqlx: a pool, bound parameters, streams, descriptions, transactions.
use futures_util::TryStreamExt;
use senders::{begin, need, said, QUESTIONS};
use sqlx::{postgres::{PgConnectOptions, PgPoolOptions}, Executor};

#[tokio::main]
async fn main() {
    println!("tool sqlx 0.8");
    let options = PgConnectOptions::new_without_pgpass().host(&need("PGHOST")).port(need("PGPORT").parse().unwrap()).username(&need("PGUSER")).password(&need("PGPASSWORD")).database(&need("PGDATABASE"));
    begin("connect");
    let db = match PgPoolOptions::new().max_connections(2).connect_with(options).await {
        Ok(x) => x,
        Err(e) => return said::<(), _>("connect", Err(e)),
    };
    println!("ok connect");
    for (name, sql) in QUESTIONS {
        begin(name);
        said(name, sqlx::query(sql).fetch_all(&db).await);
    }
    begin("list");
    said("list", sqlx::query("SELECT table_name FROM information_schema.tables WHERE table_schema = $1").bind("public").fetch_all(&db).await);
    begin("parameters");
    said("parameters", sqlx::query("SELECT COUNT(*) FROM patients WHERE age > $1 AND diagnosis = $2 AND smoker = $3").bind(40i64).bind("flu").bind(true).fetch_one(&db).await);
    begin("any");
    said("any", sqlx::query("SELECT diagnosis, COUNT(*) FROM patients WHERE diagnosis = ANY($1) GROUP BY diagnosis").bind(vec!["flu", "asthma"]).fetch_all(&db).await);
    begin("dates");
    let day = chrono::NaiveDate::from_ymd_opt(2025, 3, 1).unwrap();
    said("dates", sqlx::query("SELECT COUNT(*) FROM visits WHERE day >= $1 AND arrived < $2").bind(day).bind(day.and_hms_opt(12, 0, 0).unwrap()).fetch_one(&db).await);
    begin("limit");
    said("limit", sqlx::query("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY 1 LIMIT $1").bind(2i64).fetch_all(&db).await);
    begin("scalar");
    said("scalar", sqlx::query_scalar::<_, i64>("SELECT COUNT(*) FROM visits").fetch_one(&db).await);
    begin("raw");
    said("raw", sqlx::raw_sql("SELECT COUNT(*) FROM patients; SELECT COUNT(*) FROM visits").fetch_all(&db).await);
    begin("stream");
    let stream = async {
        let mut rows = sqlx::query("SELECT sex, COUNT(*) FROM patients GROUP BY sex").fetch(&db);
        while rows.try_next().await?.is_some() {}
        Ok::<_, sqlx::Error>(())
    };
    said("stream", stream.await);
    begin("describe"); // what its macros do when a program is compiled
    said("describe", db.describe("SELECT sex, COUNT(*) FROM patients WHERE age > $1 GROUP BY sex").await);
    begin("transaction");
    let transaction = async {
        let mut t = db.begin().await?;
        sqlx::query("SELECT COUNT(*) FROM visits").fetch_one(&mut *t).await?;
        t.commit().await
    };
    said("transaction", transaction.await);
}
