# DBI and dbplyr through the PostgreSQL door, and pipelines over HTTP.
source("server.R")
if (!nzchar(binary)) exit_file("DISCREET_BINARY is not set: nothing can be asked")
drivers <- Filter(function(p) requireNamespace(p, quietly = TRUE), c("RPostgres", "RPostgreSQL"))
for (needed in c("dplyr", "dbplyr")) if (!requireNamespace(needed, quietly = TRUE)) exit_file(paste(needed, "is not installed"))
suppressPackageStartupMessages(library(dplyr, warn.conflicts = FALSE))
server <- new_server()
con <- server$connect()
quietly <- function(code) suppressWarnings(suppressMessages(code))

# What everybody writes, over a table; each has to be a private answer with these columns.
pipelines <- list(
  sex_n = function(p, v) p |> group_by(sex) |> summarise(n = n()),
  sex_n = function(p, v) p |> count(sex, sort = TRUE),
  n = function(p, v) p |> filter(age >= 40, sex %in% c("F", "M"), !is.na(diagnosis)) |> tally(),
  born_mean_total_middle_spread = function(p, v) p |> group_by(born) |> summarise(
    mean = mean(age, na.rm = TRUE), total = sum(cost, na.rm = TRUE), middle = median(age, na.rm = TRUE), spread = sd(age, na.rm = TRUE)
  ),
  decade_n = function(p, v) p |> mutate(decade = 10 * floor(age / 10)) |> count(decade),
  group_n = function(p, v) p |> mutate(group = case_when(age < 30 ~ "young", age < 65 ~ "middle", TRUE ~ "old")) |> count(group),
  part = function(p, v) p |> summarise(part = mean(as.integer(smoker), na.rm = TRUE)),
  part = function(p, v) p |> summarise(part = mean(as.numeric(smoker), na.rm = TRUE)),
  month_n = function(p, v) v |> mutate(month = floor_date(arrived, "month")) |> count(month),
  sex_n = function(p, v) v |> inner_join(p, by = "pid") |> group_by(sex) |> summarise(n = n()),
  n = function(p, v) p |> semi_join(v, by = "pid") |> tally(),
  m = function(p, v) v |> count(pid) |> summarise(m = mean(n, na.rm = TRUE)),
  n = function(p, v) v |> summarise(n = n_distinct(pid)),
  sex_n_share = function(p, v) p |> count(sex) |> mutate(share = n / sum(n, na.rm = TRUE)),
  diagnosis_n = function(p, v) p |> count(diagnosis) |> filter(n > 10) |> arrange(desc(n)) |> head(2),
  sex = function(p, v) p |> distinct(sex)
)

# Over HTTP, with prices and intervals, and no driver at all.
patients <- discreet_table(con, "patients")
visits <- discreet_table(con, "visits")
expect_true("pid" %in% colnames(patients) && "pid" %in% colnames(visits), info = "what tables are joined by need not be listed")
for (i in seq_along(pipelines)) {
  what <- deparse(body(pipelines[[i]]), width.cutoff = 500)[1]
  got <- tryCatch(discreet_ask(con, pipelines[[i]](patients, visits)), error = identity)
  expect_inherits(got, "discreet_answer", info = paste(what, if (inherits(got, "error")) conditionMessage(got)))
  if (is.data.frame(got)) expect_equal(setdiff(names(discreet_wide(got)), c("n_error", "mean_error", "total_error", "spread_error", "part_error", "m_error")), strsplit(names(pipelines)[i], "_")[[1]], info = what)
}
asked <- patients |> filter(age >= 40) |> group_by(sex) |> summarise(n = n(), age = mean(age, na.rm = TRUE))
expect_equal(discreet_quote(con, asked)$price[1], 0.1)
answer <- discreet_ask(con, asked, epsilon = 0.5)
expect_equal(answer$sex[1:4], c("F", "M", "X", NA))
expect_equal(answer$term, rep(c("n", "age"), each = 4))
expect_true(all(answer$conf.low < answer$conf.high))
expect_equal(discreet_ask(con, patients |> filter(sex == "'; DROP") |> tally())$term, "n", info = "texts are quoted")
expect_inherits(caught(discreet_ask(con, patients)), "discreet_refused_error")
expect_inherits(caught(discreet_table(con, "nobody")), "discreet_refused_error")
expect_true(grepl("discreet_ask(con, pipeline)", caught(collect(count(patients, sex)))$suggestion, fixed = TRUE))
expect_equal(discreet_ask(con, discreet_table(con, "adults") |> count(sex))$sex, c("F", "M", "X", NA), info = "a view has columns, too")
expect_inherits(caught(discreet_table(con, "patients\" LIMIT 0 --")), "discreet_refused_error")

# Of tables that are told of by their tidy frames: what ggplot2 draws.
if (requireNamespace("ggplot2", quietly = TRUE)) {
  drawn_of <- ggplot2::ggplot(answer, ggplot2::aes(sex, estimate, ymin = conf.low, ymax = conf.high)) +
    ggplot2::geom_pointrange() + ggplot2::facet_wrap(~term, scales = "free_y")
  expect_equal(nrow(ggplot2::layer_data(drawn_of)), 8L)
}

connect <- function(driver, ...) {
  made <- if (driver == "RPostgres") RPostgres::Postgres() else RPostgreSQL::PostgreSQL()
  DBI::dbConnect(made, host = "127.0.0.1", port = server$postgres, dbname = "hospital", user = "ana", password = server$password, ...)
}
expect_true(length(drivers) > 0, info = "neither RPostgres nor RPostgreSQL is installed: nothing was tried through the PostgreSQL door")
for (driver in drivers) {
  db <- connect(driver)
  expect_equal(setdiff(DBI::dbListTables(db), "adults"), c("patients", "visits"))
  expect_true(DBI::dbExistsTable(db, "patients"))
  expect_true(all(c("sex", "born", "smoker") %in% DBI::dbListFields(db, "patients")))
  p <- quietly(tbl(db, "patients"))
  v <- quietly(tbl(db, "visits"))
  for (i in seq_along(pipelines)) {
    got <- tryCatch(quietly(collect(pipelines[[i]](p, v))), error = identity)
    what <- paste(driver, deparse(body(pipelines[[i]]), width.cutoff = 500)[1])
    expect_inherits(got, "data.frame", info = what)
    if (is.data.frame(got)) expect_equal(colnames(got), strsplit(names(pipelines)[i], "_")[[1]], info = what)
  }

  # Values: whole numbers, dates, times, truth values, groups without a value.
  bysex <- quietly(p |> group_by(sex) |> summarise(n = n()) |> collect())
  expect_equal(bysex$sex, c("F", "M", "X", NA), info = driver)
  expect_inherits(bysex$n, if (driver == "RPostgres") "integer64" else "numeric", info = driver)
  expect_true(all(abs(as.numeric(bysex$n) - 500) < 200), info = driver)
  expect_equal(quietly(p |> count(born) |> collect())$born, as.Date(c("1980-01-01", "1990-01-01")), info = driver)
  arrived <- quietly(v |> group_by(arrived) |> summarise(n = n(), units = sum(units, na.rm = TRUE)) |> collect())
  expect_equal(format(arrived$arrived, "%Y-%m-%d %H:%M:%S"), c("2025-01-01 08:30:00", "2025-02-01 12:00:00"), info = driver)
  expect_true(all(as.numeric(arrived$units) > 2^53), info = driver)
  expect_equal(sort(quietly(p |> count(smoker) |> collect())$smoker), c(FALSE, TRUE), info = driver)

  # Errors as columns, for every answer of the session; an answer that was paid for is the same with them.
  quietly(DBI::dbGetQuery(db, "SET dp.errors = columns"))
  with <- quietly(p |> group_by(sex) |> summarise(n = n()) |> collect())
  expect_equal(names(with), c("sex", "n", "n_error"), info = driver)
  expect_equal(with$n, bysex$n, info = driver)
  quietly(DBI::dbGetQuery(db, "SET dp.errors = off"))

  # Prices before paying, and rows that nobody gets.
  expect_true(any(grepl("price: epsilon 0.1", capture.output(quietly(explain(p |> filter(age > 75) |> count(sex)))))), info = driver)
  expect_true(any(grepl("would show rows", c(conditionMessage(caught(quietly(collect(p)))), ""))), info = driver)
  spent <- discreet_budget(con)$spent
  least <- 60 + match(driver, drivers)
  asked <- quietly(p |> filter(age > least) |> group_by(sex) |> summarise(n = n()))
  first <- discreet_ask(con, asked)
  expect_equal(discreet_budget(con)$spent, spent + 0.1, info = driver)
  expect_equal(as.numeric(quietly(collect(asked))$n), first$estimate, info = "what one door was paid for is free at the other")
  expect_equal(discreet_budget(con)$spent, spent + 0.1, info = driver)
  DBI::dbDisconnect(db)
  expect_true(inherits(caught(quietly(connect(driver, options = "-c dp.epsilon=none"))), "error"), info = "a setting that does not exist is told")
}
server$stop()
