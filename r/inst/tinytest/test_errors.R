# What goes wrong: conditions with a class, a reason and a suggestion, and nothing is charged twice.
source("server.R")
if (!nzchar(binary)) exit_file("DISCREET_BINARY is not set: nothing can be asked")
policy <- write_policy("0.35")
server <- new_server(policy)
con <- server$connect()
count <- "SELECT COUNT(*) AS n FROM patients"

# Refused, with where and what to write.
e <- caught(discreet_ask(con, "SELECT 'é',\n  * FROM patients"))
expect_inherits(e, "discreet_refused_error")
expect_inherits(e, "discreet_error")
expect_equal(e$reason, "* would show rows of the data")
expect_equal(e$position, 15L)
expect_equal(substr(e$sql, e$position, e$position), "*")
expect_true(grepl("GROUP BY born", e$suggestion))
expect_false(e$spent)
expect_true(grepl("\n    * FROM patients\n    ^\n", conditionMessage(e), fixed = TRUE))
expect_inherits(caught(discreet_quote(con, "SELECT * FROM patients")), "discreet_refused_error")
expect_inherits(caught(discreet_ask(con, count, epsilon = 99)), "discreet_refused_error")

# Not as it has to be.
expect_inherits(caught(discreet_ask(con, count, bogus = 1)), "discreet_invalid_error")
expect_inherits(caught(discreet_ask(con, count, epsilon = 1, error = 1)), "discreet_invalid_error")
expect_inherits(caught(discreet_ask(con, count, epsilon = NaN)), "discreet_invalid_error")
expect_inherits(caught(discreet_ask(con, c(count, count))), "discreet_invalid_error")
expect_inherits(caught(discreet_ask(con, count, parameters = list(function() 1))), "discreet_invalid_error")
expect_inherits(caught(discreet_ask(con, count, NULL, NULL, NULL, FALSE, NULL, 1)), "discreet_invalid_error")
expect_inherits(caught(discreet_ask(list(), count)), "discreet_invalid_error")
expect_inherits(caught(discreet_connect("postgresql://db.example", "t")), "discreet_invalid_error")
expect_inherits(caught(discreet_budget(server$connect(dataset = "no such"))), "discreet_not_found_error")

# Whoever has no token, or a wrong one.
old <- Sys.getenv("DISCREET_TOKEN", NA)
Sys.unsetenv("DISCREET_TOKEN")
expect_inherits(caught(discreet_connect(server$url)), "discreet_authentication_error")
Sys.setenv(DISCREET_TOKEN = server$token)
expect_equal(nrow(discreet_tables(discreet_connect(server$url))), 11L)
if (is.na(old)) Sys.unsetenv("DISCREET_TOKEN") else Sys.setenv(DISCREET_TOKEN = old)
e <- caught(discreet_ask(discreet_connect(server$url, "wrong"), count))
expect_inherits(e, "discreet_authentication_error")
expect_equal(e$status, 401L)
expect_true(grepl("discreet user token", e$suggestion))
# It is no broken connection, also where the dataset has to be asked for first.
begun <- proc.time()[["elapsed"]]
e <- caught(discreet_budget(discreet_connect(server$url, "wrong")))
expect_inherits(e, "discreet_authentication_error")
expect_true(proc.time()[["elapsed"]] - begun < 20)
expect_true(nrow(discreet_tables(discreet_connect(server$url, paste0(server$token, "\n")))) > 0)
expect_inherits(caught(discreet_connect("http://db.example:8432", "t")), "discreet_authentication_error")

# What no patience helps with is said at once, and once.
begun <- proc.time()[["elapsed"]]
e <- caught(discreet_budget(discreet_connect("https://nowhere.invalid", "t")))
expect_inherits(e, "discreet_connection_lost_error")
expect_equal(conditionMessage(e), "there is no host with this name\ncheck the address")
e <- caught(discreet_budget(discreet_connect(sub("http:", "https:", server$url), "t")))
expect_true(grepl("does not use TLS", e$reason))
expect_true(proc.time()[["elapsed"]] - begun < 20)
expect_true(grepl("discreet serve --policy", caught(discreet_connect(policy, "t"))$suggestion))

# Nobody is there.
e <- caught(discreet_ask(discreet_connect("http://127.0.0.1:9", "t", patience = 0.3), count, request = "tuesday-1"))
expect_inherits(e, "discreet_connection_lost_error")
expect_true(is.na(e$spent))
expect_equal(e$request, "tuesday-1")
expect_true(grepl("tuesday-1", e$suggestion))

# A budget that ends in a loop.
e <- caught(discreet_ask(con, count, free = TRUE))
expect_inherits(e, "discreet_price_error")
answered <- 0
for (age in 20:60) {
  e <- caught(discreet_ask(con, "SELECT COUNT(*) AS n FROM patients WHERE age > $1", parameters = list(age)))
  if (!is.null(e)) break
  answered <- answered + 1
}
expect_equal(answered, 3)
expect_inherits(e, "discreet_budget_error")
expect_false(e$spent)
expect_equal(nrow(discreet_receipts(con)), 3L)
expect_false(discreet_quote(con, count)$affordable)
expect_equal(discreet_ask(con, "SELECT COUNT(*) AS n FROM patients WHERE age > 20")$price, 0, info = "what was paid for stays free")
server$stop()

# The same request is one charge, and another question under it is refused.
server <- new_server()
con <- server$connect(patience = 60)
first <- discreet_ask(con, count, request = "monday")
expect_equal(discreet_ask(con, count, request = "monday")$estimate, first$estimate)
expect_equal(nrow(discreet_receipts(con)), 1L)
expect_inherits(caught(discreet_ask(con, "SELECT COUNT(*) FROM visits", request = "monday")), "discreet_conflict_error")

# An answer that does not arrive: somebody in between takes it away after the charge, and cuts off the next.
if (.Platform$OS.type == "unix") {
  port <- 20000L + Sys.getpid() %% 20000L
  listening <- serverSocket(port)
  relay <- parallel::mcparallel({
    for (turn in 1:3) {
      near <- socketAccept(listening, blocking = TRUE, open = "r+b", timeout = 60)
      far <- socketConnection("127.0.0.1", server$http, blocking = TRUE, open = "r+b", timeout = 60)
      repeat { # the head, and then as much as it says
        line <- readLines(near, 1)
        if (grepl("^content-length:", line, ignore.case = TRUE)) size <- as.integer(sub(".*: *", "", line))
        if (grepl("^host:", line, ignore.case = TRUE)) line <- c(paste0("Host: 127.0.0.1:", server$http), "Connection: close")
        writeLines(line, far, sep = "\r\n")
        if (identical(line, "")) break
      }
      writeBin(readBin(near, "raw", size), far)
      said <- raw()
      while (length(more <- readBin(far, "raw", 4096))) said <- c(said, more)
      if (turn == 2) writeBin(said[seq_len(length(said) %/% 2)], near)
      if (turn == 3) writeBin(said, near)
      close(near)
      close(far)
    }
    TRUE
  })
  close(listening)
  before <- nrow(discreet_receipts(con))
  through <- discreet_connect(paste0("http://127.0.0.1:", port), server$token, patience = 30, timeout = 5)
  late <- tryCatch(discreet_ask(through, "SELECT COUNT(*) AS n FROM patients WHERE age > 33", request = "cut"), error = identity)
  parallel::mccollect(relay)
  expect_equal(nrow(discreet_receipts(con)), before + 1L, info = "it arrived three times, and is charged once")
  expect_inherits(late, "discreet_answer", info = paste(conditionMessage(if (inherits(late, "error")) late else simpleError("")), collapse = ""))

  # A server that is killed, twice, while a loop asks: every question is answered, and charged once.
  asking <- parallel::mcparallel(vapply(1:40, function(i) {
    discreet_ask(con, "SELECT COUNT(*) AS n FROM patients WHERE age > $1", parameters = list(20 + i))$estimate
  }, 0))
  for (time in 1:2) {
    Sys.sleep(0.4)
    server$kill()
    server$start()
  }
  answers <- parallel::mccollect(asking)[[1]]
  expect_equal(length(answers), 40L)
  expect_true(is.numeric(answers))
  expect_equal(nrow(discreet_receipts(con, 1000)), before + 1L + 40L - 1L, info = "33 was asked before, and is free")
}

# A server that ends for good.
server$stop()
con$patience <- 0.5
expect_inherits(caught(discreet_ask(con, count)), "discreet_connection_lost_error")

# What is cut off is no answer.
expect_false(discreet:::complete("{\"meta\":{}}\n{\"row\":[1]}\n{\"end\":{\"ro"))
expect_true(discreet:::complete("{\"meta\":{}}\n{\"end\":{\"rows\":0}}\n"))
expect_false(discreet:::complete("{\"meta\":{}}\n{\"row\":[1]}\n{\"end\":{\"rows\":2}}\n"))
expect_true(discreet:::complete("{\"meta\":{}}\n{\"row\":[1]}\n{\"row\":[1]}\n{\"end\":{\"rows\":2}}\n"))

# Nobody else's address, and nobody's certificate.
stranger <- caught(discreet:::read_json("/etc/hostname"))
expect_true(inherits(stranger, "discreet_error") && grepl("not an answer from a Discreet server", stranger$reason), info = "what is sent is never opened as a file")
if (nzchar(Sys.which("openssl"))) {
  certificate <- tempfile(fileext = ".crt")
  key <- tempfile(fileext = ".key")
  system2("openssl", c(
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1",
    "-keyout", key, "-out", certificate
  ), stdout = FALSE, stderr = FALSE)
  server <- new_server(flags = paste("--tls-cert", certificate, "--tls-key", key), scheme = "https")
  begun <- proc.time()[["elapsed"]]
  e <- caught(discreet_ask(server$connect(), count))
  expect_inherits(e, "discreet_connection_lost_error")
  expect_equal(e$kind, "tls")
  expect_false(e$spent)
  expect_true(proc.time()[["elapsed"]] - begun < 25, info = "asking again does not help, and is not tried")
  expect_equal(discreet_ask(server$connect(ca = certificate), count)$price, 0.1)
  server$stop()
} else {
  cat("NOT TESTED: certificates, because there is no openssl\n")
}
