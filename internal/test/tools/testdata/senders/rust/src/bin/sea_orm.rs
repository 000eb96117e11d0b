//! SeaORM over sqlx: entities, its builder, pages.
use sea_orm::{entity::prelude::*, sea_query::Expr, ConnectOptions, Database, DbBackend, EntityTrait, FromQueryResult, QueryOrder, QuerySelect, Statement};
use senders::{begin, need, said};

mod patient {
    use sea_orm::entity::prelude::*;
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "patients")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub pid: i64,
        pub age: i64,
        pub sex: Option<String>,
        pub diagnosis: Option<String>,
        pub smoker: Option<bool>,
    }
    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}
    impl ActiveModelBehavior for ActiveModel {}
}
mod ward {
    use sea_orm::entity::prelude::*;
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "wards")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub ward: String,
        pub building: Option<String>,
        pub beds: Option<i64>,
    }
    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}
    impl ActiveModelBehavior for ActiveModel {}
}
use patient::Entity as Patient;
use ward::Entity as Ward;

#[derive(FromQueryResult)]
#[allow(dead_code)]
struct Share {
    diagnosis: Option<String>,
    n: i64,
}

macro_rules! step {
    ($name:expr, $doing:expr) => {
        begin($name);
        said($name, $doing.await);
    };
}

#[tokio::main]
async fn main() {
    println!("tool sea-orm 1.1");
    let mut options = ConnectOptions::new(format!("postgres://{}:{}@{}:{}/{}", need("PGUSER"), need("PGPASSWORD"), need("PGHOST"), need("PGPORT"), need("PGDATABASE")));
    options.max_connections(2).sqlx_logging(false);
    begin("connect");
    let db = match Database::connect(options).await {
        Ok(x) => x,
        Err(e) => return said::<(), _>("connect", Err(e)),
    };
    println!("ok connect");
    step!("first rows", Patient::find().limit(10).all(&db));
    step!("one person", Patient::find_by_id(37).one(&db));
    step!("count", Patient::find().filter(patient::Column::Age.gt(40)).count(&db));
    step!("like", Patient::find().filter(patient::Column::Diagnosis.contains("a")).count(&db));
    step!("group", Patient::find().select_only().column(patient::Column::Diagnosis).column_as(Expr::cust("COUNT(*)"), "n").group_by(patient::Column::Diagnosis).into_model::<Share>().all(&db));
    step!("sum", Patient::find().select_only().column_as(patient::Column::Age.sum(), "s").into_tuple::<Option<Decimal>>().one(&db));
    step!("largest", Patient::find().select_only().column_as(patient::Column::Age.max(), "m").into_tuple::<Option<i64>>().one(&db));
    step!("public table", Ward::find().order_by_asc(ward::Column::Ward).all(&db));
    step!("public one", Ward::find_by_id("surgery").one(&db));
    step!("public pages", Ward::find().order_by_asc(ward::Column::Ward).paginate(&db, 2).num_items_and_pages());
    step!("raw", Share::find_by_statement(Statement::from_sql_and_values(DbBackend::Postgres, "SELECT diagnosis, COUNT(*) AS n FROM patients WHERE age > $1 GROUP BY diagnosis", [40i64.into()])).all(&db));
    step!("write", ward::ActiveModel { ward: sea_orm::Set("new".into()), building: sea_orm::Set(Some("east".into())), beds: sea_orm::Set(None) }.insert(&db));
    let _ = db.close().await;
}
