discreet_ask <- function(con, sql, epsilon = NULL, error = NULL, parameters = NULL, free = FALSE, request = NULL, ...) {
  con <- checked(con)
  body <- question(sql, parameters, epsilon, error, list(...), con$dataset)
  if (free) body$free <- TRUE
  # Not by R's random numbers: after set.seed() they would name two questions alike.
  if (is.null(request)) request <- paste0("r-", paste(openssl::rand_bytes(18), collapse = ""))
  text <- send(con, "/v1/query", as_json(body), "application/x-ndjson", request, body$sql, complete)
  answer(read_answer(text))
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
    known <- if (is.na(x$error[i])) "nobody can know it beforehand" else sprintf("\u00b1%.5g with probability %g", x$error[i], x$confidence[i])
    cat("error of ", x$measure[i], ": ", known, "\n", sep = "")
  }
  cat(sprintf("left: epsilon %.5g; after it: epsilon %.5g\n", x$remaining[1], x$after[1]))
  if (!x$affordable[1]) cat("the budget does not admit it\n")
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
