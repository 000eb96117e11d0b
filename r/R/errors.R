# What can go wrong, as conditions. Each has the classes discreet_<what>_error, discreet_error and
# error, and the fields reason, suggestion, position, sql, kind, status, spent, request and details.

# The classes by the kinds of problems that the server names.
kinds <- c(
  refused = "refused", invalid = "invalid", body = "invalid", unsupported = "invalid",
  budget = "budget", price = "price",
  denied = "authentication", locked = "authentication", role = "forbidden", origin = "forbidden",
  missing = "not_found", path = "not_found",
  request = "conflict", window = "conflict", closed = "closed", limit = "limit",
  timeout = "canceled", canceled = "canceled",
  opening = "unavailable", ending = "unavailable", ledger = "unavailable", data = "unavailable",
  connection = "connection_lost", tls = "connection_lost"
)

# Signals what is wrong. spent is TRUE, FALSE, or NA where nobody knows whether something was charged.
fail <- function(kind, reason, suggestion = "", position = NA_integer_, sql = NULL, status = NA_integer_,
                 spent = NA, request = NULL, details = character()) {
  said <- c(reason, details, pointer(sql, position), suggestion[nzchar(suggestion)])
  what <- if (kind %in% names(kinds)) paste0("discreet_", kinds[[kind]], "_error")
  stop(structure(class = c(what, "discreet_error", "error", "condition"), list(
    message = paste(said, collapse = "\n"), call = NULL, reason = reason, suggestion = suggestion,
    position = position, sql = sql, kind = kind, status = status, spent = spent, request = request, details = details
  )))
}

# Two lines that show where in a question something is wrong.
pointer <- function(sql, position) {
  if (is.null(sql) || is.na(position) || position > nchar(sql)) return(character())
  before <- strsplit(paste0(substr(sql, 1, position - 1), "."), "\n", fixed = TRUE)[[1]]
  line <- strsplit(sql, "\n", fixed = TRUE)[[1]][length(before)]
  c(paste0("  ", line), paste0("  ", strrep(" ", nchar(before[length(before)]) - 1), "^"))
}

# Signals a problem (RFC 9457) that the server sent.
fail_with <- function(status, problem, sql = NULL, request = NULL) {
  position <- problem$position
  if (is.null(position) || is.null(sql)) {
    position <- NA_integer_
  } else { # it counts bytes from 0, and R counts characters from 1
    bytes <- charToRaw(enc2utf8(sql))
    before <- rawToChar(bytes[seq_len(min(position, length(bytes)))])
    Encoding(before) <- "UTF-8"
    position <- nchar(before, allowNA = TRUE) + 1L
  }
  faults <- vapply(problem$errors, function(f) trimws(paste(f$location, f$message)), "")
  fail(
    text(problem$kind, "unexpected"), text(problem$detail, paste("the server answered", status)),
    # What servers suggest in its place is for those who write headers.
    if (identical(problem$kind, "denied")) "check token = or DISCREET_TOKEN; 'discreet user token' makes one" else text(problem$instead, ""),
    position = position, sql = sql, status = status, spent = if (is.null(problem$spent)) NA else problem$spent,
    request = if (is.null(problem$request)) request else problem$request, details = faults
  )
}

text <- function(x, otherwise) if (is.null(x) || !nzchar(x)) otherwise else as.character(x)
