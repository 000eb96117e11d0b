# Made-up data, a policy, and servers that are the real binary, which DISCREET_BINARY names.

binary <- Sys.getenv("DISCREET_BINARY")

# Writes made-up patients and visits and a policy for them.
write_policy <- function(epsilon = "50", folder = tempfile("discreet")) {
  dir.create(file.path(folder, "data"), recursive = TRUE)
  set.seed(1)
  n <- 2000
  of <- function(values, size) sample(values, size, replace = TRUE)
  utils::write.csv(
    data.frame(
      pid = seq_len(n), age = of(18:90, n), sex = of(c("F", "M", "X", NA), n), diagnosis = of(c("asthma", "diabetes", "flu"), n),
      born = of(c("1980-01-01", "1990-01-01"), n), smoker = of(c("true", "false"), n), cost = round(stats::runif(n, 0, 2000), 2)
    ),
    file.path(folder, "data", "patients.csv"), row.names = FALSE, na = "", quote = FALSE
  )
  utils::write.csv(
    data.frame(
      pid = of(seq_len(n), 2 * n), ward = of(c("surgery", "heart"), 2 * n),
      arrived = of(c("2025-01-01 08:30:00", "2025-02-01 12:00:00.5"), 2 * n), units = of(c("9007199254740991", "5"), 2 * n)
    ),
    file.path(folder, "data", "visits.csv"), row.names = FALSE, quote = FALSE
  )
  most <- min(5, as.numeric(epsilon))
  writeLines(c(
    "datasets:",
    "  hospital:",
    "    engine: duckdb",
    "    source: data",
    "    unit: patients.pid",
    sprintf("    budget: {epsilon: %s, per_query: {default: 0.1, max: %s}}", epsilon, most),
    "    release: immediate",
    "    failures: {analyst: 3, dataset: 9}", # a server that is killed while it answers fails for who asked
    "    analysts: {ana: {share: 1}}",
    "    views:",
    "      adults: SELECT age, sex FROM patients WHERE age >= 18",
    "    tables:",
    "      patients:",
    "        unique: pid",
    "        columns:",
    "          age:       {type: integer, bounds: [0, 110], nullable: false}",
    "          sex:       {type: text, keys: [F, M, X, null]}",
    "          diagnosis: {type: text, keys: [asthma, diabetes, flu]}",
    "          born:      {type: date, keys: [1980-01-01, 1990-01-01]}",
    "          smoker:    {type: boolean}",
    "          cost:      {type: decimal, bounds: [0, 2000], granularity: 0.01}",
    "      visits:",
    "        path: pid -> patients.pid",
    "        max_rows: 5",
    "        max_groups: 2",
    "        columns:",
    "          ward:      {type: text, keys: [surgery, heart]}",
    "          arrived:   {type: timestamp, keys: ['2025-01-01 08:30:00', '2025-02-01 12:00:00.5']}",
    "          units:     {type: integer, bounds: [0, 9007199254740991]}"
  ), file.path(folder, "hospital.yaml"))
  file.path(folder, "hospital.yaml")
}

# The password or the token that a command has drawn.
drawn <- function(...) {
  said <- system2(binary, c(...), stdout = TRUE)
  sub("^[a-z]+: ", "", grep("^(password|token): ", said, value = TRUE))
}

# A server for a policy, which can be killed and started again at the same ports.
new_server <- function(policy = write_policy(), flags = "", scheme = "http") {
  s <- new.env()
  s$password <- drawn("user", "add", "ana", "--policy", policy)
  s$token <- drawn("user", "token", "ana", "--policy", policy)
  s$http <- s$postgres <- 0L
  folder <- dirname(policy)
  s$start <- function() {
    log <- file.path(folder, "log")
    unlink(log)
    command <- sprintf(
      "cd %s && sh -c 'echo $$ > pid; exec %s serve --policy %s --http 127.0.0.1:%d --listen 127.0.0.1:%d %s' > log 2>&1 &",
      shQuote(folder), binary, policy, s$http, s$postgres, flags
    )
    system(command)
    for (i in 1:600) {
      said <- if (file.exists(log)) readLines(log, warn = FALSE) else character()
      if (any(grepl("msg=ready", said))) break
      Sys.sleep(0.1)
    }
    if (!any(grepl("msg=ready", said))) stop("the server did not start: ", paste(said, collapse = "\n"))
    port <- function(door) as.integer(sub(".*:", "", grep(paste0("^", door, " on "), said, value = TRUE)))
    s$http <- port("HTTP")
    s$postgres <- port("PostgreSQL")
    s$pid <- as.integer(readLines(file.path(folder, "pid")))
    s$url <- paste0(scheme, "://127.0.0.1:", s$http)
  }
  answers <- function() {
    unchecked <- curl::new_handle(ssl_verifypeer = FALSE, ssl_verifyhost = FALSE)
    !inherits(try(curl::curl_fetch_memory(paste0(s$url, "/healthz"), unchecked), silent = TRUE), "try-error")
  }
  s$end <- function(signal) {
    tools::pskill(s$pid, signal)
    for (i in 1:600) if (answers()) Sys.sleep(0.1) else break
  }
  s$kill <- function() s$end(tools::SIGKILL)
  s$stop <- function() s$end(tools::SIGTERM)
  s$connect <- function(...) discreet_connect(s$url, s$token, ...)
  s$start()
  s
}

# What somebody who asks gets in place of an answer.
caught <- function(code) tryCatch({ code; NULL }, error = identity)
