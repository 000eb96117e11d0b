# What there is beside answers: tables, budgets, receipts.

discreet_tables <- function(con) {
  described <- get_json(checked(con), dataset_path(con))
  views <- lapply(described$views, function(v) list(name = v$name, columns = columns_of(con, v$name)))
  rows <- lapply(c(described$tables, views), function(t) {
    columns <- t$columns
    n <- length(columns)
    field <- function(name) vapply(columns, function(c) text(c[[name]], NA_character_), "")
    bound <- function(end) vapply(columns, function(c) text(c$bounds[[end]], NA_character_), "")
    data.frame(
      table = rep(t$name, n), public = rep(isTRUE(t$public), n), column = field("name"), type = field("type"),
      nullable = vapply(columns, function(c) !identical(c$nullable, FALSE), NA),
      lowest = bound("lowest"), highest = bound("highest"), keys = field("keys"),
      values = I(lapply(columns, function(c) as.character(unlist(c$values))))
    )
  })
  out <- do.call(rbind, rows)
  structure(out, class = c("discreet_tables", class(out)))
}

print.discreet_tables <- function(x, ...) {
  shown <- x
  class(shown) <- "data.frame"
  if (is.list(shown$values)) shown$values <- vapply(shown$values, paste, "", collapse = ", ")
  print(shown, ...)
  invisible(x)
}

discreet_budget <- function(con) {
  raw <- get_json(checked(con), dataset_path(con, "budget"))
  account <- function(get) vapply(raw$accounts, get, 0)
  side <- vapply(raw$accounts, function(a) text(a$side, "epsilon"), "")
  amount <- function(what) account(function(a) number(a[[what]][[text(a$side, "epsilon")]]))
  out <- data.frame(
    account = vapply(raw$accounts, `[[`, "", "name"), kind = vapply(raw$accounts, `[[`, "", "kind"), claim = side,
    spent = amount("spent"), limit = amount("limit"), left = amount("left"), part = account(function(a) number(a$part))
  )
  structure(out, class = c("discreet_budget", "data.frame"), dataset = raw$dataset, remaining = amounts(raw$remaining),
            questions = if (is.null(raw$questions)) NA_integer_ else raw$questions)
}

print.discreet_budget <- function(x, ...) {
  print.data.frame(x, ...)
  left <- attr(x, "remaining")
  if (is.null(left)) return(invisible(x))
  cat(attr(x, "dataset"), ": epsilon ", format(left[["epsilon"]], digits = 5), " left", sep = "")
  if (!is.na(attr(x, "questions"))) cat(", about ", attr(x, "questions"), " questions at the default price", sep = "")
  cat("\n")
  invisible(x)
}

discreet_receipts <- function(con, limit = 100) {
  raw <- get_json(checked(con), paste0("/v1/receipts?newest=true&limit=", as.integer(limit)))$receipts
  field <- function(name) vapply(raw, function(r) text(r[[name]], NA_character_), "")
  data.frame(
    sequence = vapply(raw, function(r) number(r$sequence), 0), hash = field("hash"),
    time = as.POSIXct(field("time"), format = "%Y-%m-%dT%H:%M:%OS", tz = "UTC"), request = field("request"),
    dataset = field("dataset"), analyst = field("analyst"), price = vapply(raw, function(r) number(r$cost$epsilon), 0)
  )
}

discreet_table <- function(con, name) {
  for (needed in c("dplyr", "dbplyr")) {
    if (!requireNamespace(needed, quietly = TRUE)) fail("invalid", paste("the package", needed, "is not installed"), spent = FALSE)
  }
  found <- vapply(columns_of(con, name), `[[`, "", "name")
  empty <- as.data.frame(stats::setNames(rep(list(logical()), length(found)), found), optional = TRUE)
  dbplyr::tbl_lazy(empty, con = dialect(), name = name)
}

# The columns of a table or view, with those by which tables are joined: what has no rows is free.
columns_of <- function(con, name) {
  quoted <- paste0("\"", gsub("\"", "\"\"", name, fixed = TRUE), "\"")
  none <- discreet_ask(con, paste("SELECT * FROM", quoted, "LIMIT 0"), free = TRUE)
  lapply(attr(none, "read")$columns, function(c) list(name = c$name, type = c$kind))
}

# A connection to nowhere, for which dbplyr writes PostgreSQL's SQL. Its own for tests quotes names
# as MySQL does.
dialect <- function() {
  con <- dbplyr::simulate_postgres()
  structure(con, class = c("discreet_dialect", class(con)))
}

# It is asked by discreet_ask, which knows a connection, and says a price.
collect.tbl_discreet_dialect <- function(x, ...) {
  fail("invalid", "a pipeline over discreet_table() has no connection of its own", "ask it with discreet_ask(con, pipeline), or get its price with discreet_quote(con, pipeline)",
       spent = FALSE)
}

sql_escape_ident.discreet_dialect <- function(con, x) dbplyr::sql_quote(x, "\"")
