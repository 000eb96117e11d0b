//! What the senders in Rust share.
use std::env::var;

pub fn need(name: &str) -> String {
    var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

pub fn begin(name: &str) {
    std::fs::write(need("DISCREET_STEP"), name).unwrap();
}

pub fn said<T, E: std::error::Error>(name: &str, result: Result<T, E>) {
    match result {
        Ok(_) => println!("ok {name}"),
        Err(e) => {
            let mut text = e.to_string();
            let mut source = e.source();
            while let Some(s) = source {
                text = s.to_string();
                source = s.source();
            }
            println!("no {name} | {}", text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
}

pub const QUESTIONS: &[(&str, &str)] = &[
    ("first rows", "SELECT * FROM patients LIMIT 10"),
    ("count", "SELECT COUNT(*) FROM patients"),
    ("group", "SELECT diagnosis, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY diagnosis ORDER BY n DESC"),
    ("by month", "SELECT date_trunc('month', arrived) AS month, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1"),
    ("filter", "SELECT ward, SUM(cost) FROM visits WHERE day >= '2025-03-01' AND day < '2025-06-01' GROUP BY ward"),
    ("join", "SELECT p.sex, v.ward, COUNT(*) FROM patients p JOIN visits v ON p.pid = v.pid GROUP BY p.sex, v.ward"),
    ("public table", "SELECT * FROM wards ORDER BY ward"),
    ("page", "SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY diagnosis LIMIT 3 OFFSET 3"),
    ("one person", "SELECT * FROM patients WHERE pid = 37"),
    ("write", "UPDATE patients SET age = 0 WHERE pid = 37"),
];
