# HTTP over a connection that stays open, and requests that are sent again where they may be.

# After these nothing was charged, and asking again in a while helps.
later <- c("limit", "opening", "ending", "users")

# Sends a request until it is answered or the connection's patience is over, and signals what the
# answer says is wrong. Everything that is sent may arrive twice: what is charged has a request, a
# name under which it is charged once. complete says whether a body is whole.
send <- function(con, path, body = NULL, accept = "application/json", request = NULL, sql = NULL, complete = function(body) TRUE) {
  # Here: what goes wrong while an argument is made, such as a path that has to be asked for, is no broken connection.
  force(path)
  force(body)
  given_up <- proc.time()[["elapsed"]] + con$patience
  pause <- 0.05
  left <- function(wait) proc.time()[["elapsed"]] + wait < given_up
  repeat {
    answer <- tryCatch(once(con, path, body, accept, request), error = identity)
    if (inherits(answer, "error") || answer$status_code < 300 && !complete(answer$text)) {
      lost(answer, left(pause), request)
      Sys.sleep(pause)
      pause <- min(2, pause * 2)
      next
    }
    if (answer$status_code < 300) return(answer$text)
    problem <- tryCatch(read_json(answer$text), error = function(e) list())
    wait <- max(retry_after(answer$headers), pause)
    if (!(text(problem$kind, "") %in% later && left(wait))) fail_with(answer$status_code, problem, sql, request)
    Sys.sleep(wait)
  }
}

once <- function(con, path, body, accept, request) {
  handle <- con$handle()
  headers <- list(Accept = accept, Authorization = paste("Bearer", con$token()), `Idempotency-Key` = request)
  curl::handle_setopt(handle, .list = con$options)
  if (!is.null(body)) {
    sent <- charToRaw(enc2utf8(body))
    curl::handle_setopt(handle, post = TRUE, postfieldsize = length(sent), postfields = sent)
    headers$`Content-Type` <- "application/json"
  }
  headers <- headers[!vapply(headers, is.null, NA)]
  # Without Expect curl does not wait for a permission to send the body.
  curl::handle_setheaders(handle, .list = c(headers, Expect = ""))
  answer <- curl::curl_fetch_memory(paste0(con$url, path), handle)
  answer$text <- rawToChar(answer$content)
  Encoding(answer$text) <- "UTF-8"
  answer
}

# Signals that nobody answers, unless there is time to try again.
lost <- function(answer, again, request) {
  why <- if (inherits(answer, "error")) conditionMessage(answer) else "the answer was cut off"
  if (grepl("certificate", why, ignore.case = TRUE)) {
    fail("tls", paste("the certificate of the server is not valid:", why), "give its file in discreet_connect(..., ca = )", spent = FALSE)
  }
  # What no patience helps with.
  if (grepl("could not resolve host", why, ignore.case = TRUE)) {
    fail("connection", "there is no host with this name", "check the address", spent = FALSE)
  }
  if (grepl("wrong version number|record layer failure", why, ignore.case = TRUE)) {
    port <- "check the port, by default 8432; on this machine http:// may work"
    fail("tls", "the server at this address does not use TLS", port, spent = FALSE)
  }
  if (again) return(invisible())
  what <- if (is.null(request)) {
    "try again in a while"
  } else {
    sprintf("ask again with request = \"%s\", which is not charged twice", request)
  }
  fail("connection", paste("the server does not answer:", why), what, request = request)
}

retry_after <- function(headers) {
  found <- curl::parse_headers_list(headers)[["retry-after"]]
  seconds <- suppressWarnings(as.numeric(found))
  if (length(seconds) == 1 && !is.na(seconds)) seconds else 0
}

# Reads what a server sent. (jsonlite's fromJSON would open what looks like a file or an address.)
read_json <- function(text) {
  force(text) # here, and not where what goes wrong is taken for bad JSON
  found <- tryCatch(jsonlite::parse_json(text, bigint_as_char = TRUE), error = function(e) NULL)
  if (!is.list(found)) fail("unexpected", "this is not an answer from a Discreet server", "check the address")
  found
}
