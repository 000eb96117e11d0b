# Questions: a text or a pipeline of dbplyr, its values and what to pay, as the server reads them.

question <- function(sql, parameters, epsilon, error, settings, dataset) {
  if (!is.null(epsilon) && !is.null(error)) {
    fail("invalid", "both epsilon and error were given", "give epsilon, or error, which finds the lowest price for it, not both", spent = FALSE)
  }
  if (length(settings) && (is.null(names(settings)) || !all(nzchar(names(settings))))) {
    fail("invalid", "a setting has no name", "put values for $1, $2, ... in parameters = list(...)", spent = FALSE)
  }
  settings <- settings[!vapply(settings, is.null, NA)]
  if (!is.null(error)) settings$error <- error
  named <- lapply(settings, exactly)
  if (length(named)) names(named) <- paste0("dp.", names(named))
  body <- list(
    dataset = dataset, sql = sql_of(sql), parameters = if (length(parameters)) lapply(unname(as.list(parameters)), parameter),
    epsilon = if (!is.null(epsilon)) exactly(epsilon), settings = if (length(named)) named
  )
  body[!vapply(body, is.null, NA)]
}

as_json <- function(body) jsonlite::toJSON(body, auto_unbox = TRUE, null = "null", json_verbatim = TRUE)

# The text of a question: itself, or what dbplyr writes for a lazy table.
sql_of <- function(x) {
  if (inherits(x, "tbl_lazy")) {
    x <- as.character(dbplyr::sql_render(x))
  }
  if (!is.character(x) || length(x) != 1 || is.na(x)) {
    fail("invalid", "a question must be a single text, or a dplyr pipeline over discreet_table() or tbl()", spent = FALSE)
  }
  utf8(as.character(x))
}

# A text in UTF-8. Where R runs without a locale it does not know that texts are.
utf8 <- function(x) {
  if (Encoding(x) != "unknown" || !validUTF8(x)) return(enc2utf8(x))
  Encoding(x) <- "UTF-8"
  x
}

# A number as it is written: the shortest text that is this number again.
exactly <- function(x) {
  if (length(x) != 1 || is.na(x)) fail("invalid", "a setting must be a single value", spent = FALSE)
  if (is.logical(x)) return(if (x) "on" else "off")
  if (inherits(x, "integer64") || !is.double(x)) return(as.character(x))
  if (!is.finite(x)) fail("invalid", "a number must be finite", spent = FALSE)
  if (x == trunc(x) && abs(x) < 1e15) return(format(x, scientific = FALSE, trim = TRUE))
  for (digits in 15:17) {
    written <- formatC(x, digits = digits, width = 1, format = "g")
    if (as.numeric(written) == x) break
  }
  written
}

# A value for $1, $2, ..., as JSON. What has another length than one, or is a list, is an array.
parameter <- function(x) {
  if (is.null(x)) return(NULL)
  if (!is.atomic(x) && !is.list(x)) fail("invalid", sprintf("a parameter cannot be of the class %s", class(x)[1]), spent = FALSE)
  if (is.list(x) || length(x) != 1) return(lapply(as.list(x), parameter))
  if (is.na(x)) return(NULL)
  if (is.factor(x)) x <- as.character(x)
  if (inherits(x, "Date")) return(list(kind = "date", value = format(x, "%Y-%m-%d")))
  if (inherits(x, "POSIXt")) return(list(kind = "timestamp", value = moment(x)))
  if (inherits(x, "integer64") || is.numeric(x)) return(structure(exactly(x), class = "json"))
  if (is.logical(x)) return(x)
  if (is.character(x)) return(utf8(x))
  fail("invalid", sprintf("a parameter cannot be of the class %s", class(x)[1]), spent = FALSE)
}

# A time in UTC with its microseconds, to the nearest: R's own format cuts them off.
moment <- function(x) {
  seconds <- as.numeric(as.POSIXct(x))
  micros <- round((seconds - floor(seconds)) * 1e6)
  whole <- as.POSIXct(floor(seconds) + (micros == 1e6), origin = "1970-01-01", tz = "UTC")
  sprintf("%s.%06d", format(whole, "%Y-%m-%d %H:%M:%S", tz = "UTC"), as.integer(micros %% 1e6))
}
