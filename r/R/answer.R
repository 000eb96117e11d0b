# Answers: what the server sent, as tidy rows and as a table.

# Whether an answer that is sent row by row is whole: its last line says how many rows there are.
complete <- function(body) {
  last <- rawToChar(utils::tail(charToRaw(body), 64))
  end <- regmatches(last, regexec("\n\\{\"end\":\\{\"rows\":([0-9]+)\\}\\}\n*$", last, useBytes = TRUE))[[1]]
  length(end) == 2 && length(strsplit(body, "\n+", useBytes = TRUE)[[1]]) == as.numeric(end[2]) + 2
}

# The columns with their values and errors, and what stands beside them.
read_answer <- function(body) {
  lines <- strsplit(body, "\n", fixed = TRUE)[[1]]
  lines <- lines[nzchar(lines)]
  meta <- read_json(lines[1])$meta
  between <- lines[-c(1, length(lines))]
  rows <- read_json(paste0("[", paste(between, collapse = ","), "]"))
  columns <- lapply(seq_along(meta$columns), function(i) {
    column <- meta$columns[[i]]
    cells <- lapply(rows, function(r) r$row[[i]])
    errors <- vapply(rows, function(r) if (is.null(r$errors)) NA_real_ else number(r$errors[[i]]), 0)
    list(name = column$name, kind = column$kind, noisy = column$noisy, cells = cells, errors = errors)
  })
  list(meta = meta, columns = columns, rows = length(rows))
}

numeric_kinds <- c("integer", "decimal", "real")

is_term <- function(column) column$noisy && column$kind %in% numeric_kinds

# The tidy frame: for each row and each noisy number a row with its keys, term, estimate, conf.low,
# conf.high and price. Nothing here may fail: it was paid for.
answer <- function(read) {
  estimated <- vapply(read$columns, is_term, NA)
  keys <- read$columns[!estimated]
  terms <- read$columns[estimated]
  own <- c("term", "estimate", "conf.low", "conf.high", "price")
  price <- number(read$meta$cost$epsilon)
  n <- read$rows
  each <- if (length(terms)) rep(seq_len(n), times = length(terms)) else seq_len(n)
  # A key that is called as one of ours gets a number.
  names <- make.unique(c(own, vapply(keys, `[[`, "", "name")))[-seq_along(own)]
  out <- lapply(keys, function(k) native(k$cells, k$kind)[each])
  names(out) <- names
  estimate <- unlist(lapply(terms, function(t) native(t$cells, "real")))
  error <- unlist(lapply(terms, `[[`, "errors"))
  if (!length(terms)) estimate <- error <- rep(NA_real_, n)
  if (is.null(estimate)) estimate <- error <- numeric()
  out$term <- if (length(terms)) rep(vapply(terms, `[[`, "", "name"), each = n) else rep(NA_character_, n)
  out$estimate <- estimate
  out$conf.low <- estimate - error
  out$conf.high <- estimate + error
  out$price <- rep(price, length(each))
  out <- structure(out, row.names = seq_along(each), class = c("discreet_answer", "data.frame"))
  beside(out, read)
}

# Puts what stands beside the rows into attributes.
beside <- function(out, read) {
  meta <- read$meta
  attr(out, "cost") <- amounts(meta$cost)
  attr(out, "remaining") <- amounts(meta$remaining)
  attr(out, "more") <- if (is.null(meta$more)) NA_integer_ else meta$more
  attr(out, "receipt") <- meta$receipt[c("sequence", "hash", "free")]
  attr(out, "confidence") <- meta$confidence
  attr(out, "notes") <- c(as.character(unlist(meta$notes)), limits_text(meta$limits))
  attr(out, "made_up") <- isTRUE(meta$made_up)
  attr(out, "data_version") <- meta$data_version$number
  attr(out, "read") <- read
  out
}

limits_text <- function(limits) {
  if (!isTRUE(limits$cut)) return(character())
  sprintf("one person counts with at most %s rows in each of at most %s group%s; the intervals leave out the bias of this limit",
          limits$max_rows, limits$max_groups, if (limits$max_groups == 1) "" else "s")
}

# The values of a column, in R's classes. What cannot be read as its kind stays a text.
native <- function(cells, kind, bigint = "numeric") {
  cells[vapply(cells, is.null, NA)] <- NA
  if (kind == "integer" && bigint == "integer64") return(bit64::as.integer64(vapply(cells, spelled, "")))
  if (kind == "integer" && bigint == "character") return(vapply(cells, spelled, ""))
  if (kind %in% numeric_kinds) return(vapply(cells, as.numeric, 0))
  if (kind == "boolean") return(vapply(cells, as.logical, NA))
  texts <- vapply(cells, as.character, "")
  read <- switch(kind,
    date = as.Date(texts, format = "%Y-%m-%d"),
    timestamp = as.POSIXct(sub("T", " ", texts), format = "%Y-%m-%d %H:%M:%OS", tz = "UTC"),
    texts
  )
  if (identical(is.na(read), is.na(texts))) read else texts
}

# A whole number with all of its digits.
spelled <- function(x) if (is.na(x)) NA_character_ else if (is.character(x)) x else format(x, scientific = FALSE, digits = 20, trim = TRUE)

# Whether a frame is still the answer that it was made of: attributes outlive rows.
whole <- function(x) {
  read <- attr(x, "read")
  !is.null(read) && nrow(x) == read$rows * max(1, sum(vapply(read$columns, is_term, NA)))
}

discreet_wide <- function(answer, bigint = c("numeric", "integer64", "character")) {
  bigint <- match.arg(bigint)
  read <- attr(answer, "read")
  if (!whole(answer)) fail("invalid", "this frame did not come from discreet_ask(), or has changed since", spent = FALSE)
  out <- list()
  given <- vapply(read$columns, `[[`, "", "name")
  for (column in read$columns) {
    out <- c(out, stats::setNames(list(native(column$cells, column$kind, bigint)), column$name))
    error <- paste0(column$name, "_error")
    if (column$noisy && !(error %in% given) && (any(!is.na(column$errors)) || read$rows == 0)) {
      out <- c(out, stats::setNames(list(column$errors), error))
    }
  }
  names(out) <- make.unique(names(out), sep = "_")
  structure(out, row.names = seq_len(read$rows), class = "data.frame")
}

print.discreet_answer <- function(x, ...) {
  print.data.frame(x, ...)
  if (!whole(x)) return(invisible(x))
  for (note in attr(x, "notes")) cat("note: ", note, "\n", sep = "")
  if (isTRUE(attr(x, "made_up"))) {
    cat("on the data this would cost at most ", price_text(attr(x, "cost")), "\n", sep = "")
    return(invisible(x))
  }
  paid <- if (isTRUE(attr(x, "receipt")$free) || price_text(attr(x, "cost")) == "free") "free" else price_text(attr(x, "cost"))
  cat(sprintf("intervals: %g %%; price: %s; left: epsilon %.5g\n", 100 * attr(x, "confidence"), paid, attr(x, "remaining")[["epsilon"]]))
  invisible(x)
}
