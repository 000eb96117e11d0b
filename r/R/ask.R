discreet_ask <- function(con, sql, epsilon = NULL, error = NULL, parameters = NULL, free = FALSE, request = NULL,
                         ..., sandbox = FALSE) {
  con <- checked(con)
  body <- question(sql, parameters, epsilon, error, list(...), con$dataset)
  if (free) body$free <- TRUE
  if (sandbox) body$sandbox <- TRUE
  answer(read_answer(if (is.null(request)) pay(con, as_json(body), body$sql) else query(con, as_json(body), request, body$sql)))
}

query <- function(con, body, request, sql) send(con, "/v1/query", body, "application/x-ndjson", request, sql, complete)

# Asks under a name that is drawn. It is kept where the answer was lost, by an interrupt or with the
# connection, and is the name of the same question when that is asked again: it has been paid for.
pay <- function(con, body, sql) {
  lost <- con$lost[[body]]
  # Not by R's random numbers: after set.seed() they would name two questions alike.
  request <- if (is.null(lost)) paste0("r-", paste(openssl::rand_bytes(18), collapse = "")) else lost
  con$lost[[body]] <- request
  out <- tryCatch(query(con, body, request, sql), discreet_error = identity)
  if (!inherits(out, "discreet_error") || identical(out$spent, FALSE) || inherits(out, "discreet_conflict_error")) con$lost[[body]] <- NULL
  # The data or the budget are others by now, and so is the question.
  if (inherits(out, "discreet_conflict_error") && !is.null(lost)) return(pay(con, body, sql))
  if (inherits(out, "discreet_error")) stop(out)
  out
}

discreet_quote <- function(con, sql, epsilon = NULL, error = NULL, parameters = NULL, ...) {
  con <- checked(con)
  body <- question(sql, parameters, epsilon, error, list(...), con$dataset)
  quote_of(read_json(send(con, "/v1/explain", as_json(body), sql = body$sql)))
}

# One row for each number that would be released, or one without a name where nothing would be.
quote_of <- function(raw) {
  measures <- unlist(lapply(raw$questions, `[[`, "measures"), recursive = FALSE)
  if (!length(measures)) measures <- list(list(measure = NA_character_))
  n <- length(measures)
  out <- data.frame(
    measure = vapply(measures, function(m) as.character(m$measure), ""),
    error = vapply(measures, function(m) number(m$error), 0),
    confidence = rep(raw$confidence, n),
    price = rep(number(raw$pay$epsilon), n),
    free = rep(raw$known, n),
    affordable = rep(raw$affordable, n),
    remaining = rep(number(raw$remaining$epsilon), n),
    after = rep(number(raw$after$epsilon), n)
  )
  structure(out, class = c("discreet_quote", "data.frame"), cost = amounts(raw$pay), left = amounts(raw$remaining), raw = raw)
}

print.discreet_quote <- function(x, ...) {
  shown <- c("measure", "error", "confidence", "free", "affordable", "remaining", "after")
  if (!nrow(x) || is.null(attr(x, "cost")) || !all(shown %in% names(x))) return(NextMethod())
  cat("price: ", if (x$free[1]) "free" else price_text(attr(x, "cost")), "\n", sep = "")
  for (i in which(!is.na(x$measure))) {
    known <- if (is.na(x$error[i])) "cannot be known beforehand" else sprintf("\u00b1%.5g with probability %g", x$error[i], x$confidence[i])
    cat("error of ", x$measure[i], ": ", known, "\n", sep = "")
  }
  cat(sprintf("left: epsilon %.5g; afterwards: epsilon %.5g\n", x$remaining[1], x$after[1]))
  if (!x$affordable[1]) cat("the budget cannot pay for it\n")
  invisible(x)
}

number <- function(x) if (is.null(x)) NA_real_ else as.numeric(x)

# An amount of privacy, as a named vector: NA where it has no bound, or is not counted.
amounts <- function(raw) vapply(c(epsilon = "epsilon", rho = "rho", delta = "delta"), function(name) number(raw[[name]]), 0)

price_text <- function(cost) {
  if (all(is.na(cost) | cost == 0)) return("free")
  out <- sprintf("epsilon %.5g", cost[["epsilon"]])
  if (!is.na(cost[["rho"]]) && cost[["rho"]] != 0) out <- paste0(out, sprintf(" (rho %.5g)", cost[["rho"]]))
  if (!is.na(cost[["delta"]]) && cost[["delta"]] != 0) out <- paste0(out, sprintf(", delta %.5g", cost[["delta"]]))
  out
}
