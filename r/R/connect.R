discreet_connect <- function(url, token = Sys.getenv("DISCREET_TOKEN"), dataset = NULL, patience = 30, timeout = NULL, ca = NULL) {
  if (!is.character(url) || length(url) != 1 || !grepl("^https?://[^/]", url)) {
    way <- if (is.character(url) && length(url) == 1 && file.exists(url)) {
      sprintf("this is a policy: start a server with 'discreet serve --policy %s', and connect to http://127.0.0.1:8432", url)
    } else {
      "write http:// or https://; DBI's drivers take the address for PostgreSQL"
    }
    fail("invalid", "this is not an address of the HTTP interface", way, spent = FALSE)
  }
  if (grepl("^http:", url) && !grepl("^http://(localhost|127[.][0-9.]+|\\[::1\\])(:[0-9]+)?(/|$)", url)) {
    fail("denied", paste(url, "does not use TLS, so anybody on the way could read the token"),
         "connect to https://, or to a server on this machine; ca = names a certificate that no public authority signed", spent = FALSE)
  }
  if (is.character(token)) token <- trimws(token) # a file ends with a line
  if (!is.character(token) || length(token) != 1 || is.na(token) || !nzchar(token)) {
    fail("denied", "there is no token", "use discreet_connect(url, token = ), or put it in DISCREET_TOKEN; 'discreet user token' makes one", spent = FALSE)
  }
  if (!is.null(ca) && !file.exists(ca)) fail("invalid", "there is no such certificate file", spent = FALSE)
  con <- new.env(parent = emptyenv())
  con$url <- sub("/+$", "", url)
  con$dataset <- dataset
  con$patience <- patience
  # Nothing leads the token to another server.
  con$options <- list(followlocation = FALSE, connecttimeout_ms = 10000, timeout_ms = if (is.null(timeout)) 0 else 1000 * timeout)
  if (!is.null(ca)) con$options$cainfo <- path.expand(ca)
  con$token <- function() token # in a function, so that nothing prints it
  con$handle <- handles()
  con$lost <- list() # questions without an answer, and their names
  structure(con, class = "discreet_connection")
}

# A handle of curl, which keeps its connection open. A fork has one of its own.
handles <- function() {
  handle <- NULL
  process <- 0L
  function() {
    if (process != Sys.getpid()) {
      handle <<- curl::new_handle()
      process <<- Sys.getpid()
    }
    curl::handle_reset(handle)
  }
}

print.discreet_connection <- function(x, ...) {
  cat("Discreet at ", x$url, if (!is.null(x$dataset)) paste0(", dataset ", x$dataset), "\n", sep = "")
  invisible(x)
}

checked <- function(con) {
  if (!inherits(con, "discreet_connection")) {
    fail("invalid", "this is not a connection from discreet_connect()", "DBI's connections are for DBI and dbplyr", spent = FALSE)
  }
  con
}

get_json <- function(con, path) read_json(send(con, path))

# The path of the dataset that is asked about.
dataset_path <- function(con, ...) {
  if (is.null(con$dataset)) {
    found <- unlist(get_json(con, "/v1/datasets")$datasets)
    if (length(found) != 1) {
      fail("missing", sprintf("you may ask about %d datasets", length(found)), "name one of them: discreet_connect(..., dataset = )", spent = FALSE)
    }
    con$dataset <- found
  }
  paste0("/v1/datasets/", paste(c(utils::URLencode(con$dataset, reserved = TRUE), ...), collapse = "/"))
}
