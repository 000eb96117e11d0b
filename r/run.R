# Runs what r/test has installed: the manual against the code, all tests, docs/r.md and the vignette.
library(discreet)
begun <- proc.time()[["elapsed"]]
failed <- character()
check <- function(what, ok, said = NULL) {
  cat(sprintf("%-28s %s (%.0f s)\n", what, if (ok) "ok" else "FAILED", proc.time()[["elapsed"]] - begun))
  if (!ok) {
    failed <<- c(failed, what)
    if (length(said)) print(said)
  }
}

here <- Sys.getenv("DISCREET_R")
manual <- list(tools::codoc("discreet"), tools::undoc("discreet"))
pages <- lapply(list.files(file.path(here, "man"), full.names = TRUE), tools::checkRd)
check("manual", all(lengths(lapply(manual, unlist)) == 0) && all(lengths(pages) == 0), c(manual, pages))

tests <- system.file("tinytest", package = "discreet")
for (file in list.files(tests, "^test_")) {
  found <- tinytest::run_test_file(file.path(tests, file), verbose = 0)
  check(file, length(found) > 0 && tinytest::all_pass(found), found)
}

setwd(tests)
source("server.R")
server <- new_server()
# What a page or a vignette says of places is true of this server.
here_is <- function(lines) {
  for (name in names(places <- c(
    "https://db.example" = server$url, "\"TOKEN\"" = deparse(server$token), "\"PASSWORD\"" = deparse(server$password),
    "\"db.example\"" = "\"127.0.0.1\"", "port = 5432" = paste("port =", server$postgres)
  ))) lines <- gsub(name, places[[name]], lines, fixed = TRUE)
  lines
}

# Every block of R of a page, in order, in one place; what a block shows is thrown away.
blocks <- function(lines) {
  begins <- grep("^```r$", lines)
  lapply(begins, function(b) lines[seq(b + 1, b + which(lines[-seq_len(b)] == "```")[1] - 1)])
}
place <- new.env(parent = globalenv())
grDevices::pdf(NULL)
page <- blocks(readLines(file.path(here, "..", "docs", "r.md")))
for (i in seq_along(page)) {
  wrong <- tryCatch({
    utils::capture.output(source(exprs = parse(text = here_is(page[[i]])), local = place, echo = TRUE))
    NULL
  }, error = identity)
  check(sprintf("docs/r.md, snippet %d", i), is.null(wrong), list(page[[i]], wrong))
}
check("docs/r.md has snippets", length(page) >= 8)

# The vignette is knitted: an error in it is an error here.
folder <- tempfile("vignette")
dir.create(folder)
writeLines(here_is(readLines(file.path(here, "vignettes", "discreet.Rmd"))), file.path(folder, "discreet.Rmd"))
setwd(folder)
knitr::opts_chunk$set(error = FALSE)
Sys.setenv(DISCREET_URL = server$url, DISCREET_TOKEN = server$token)
wrong <- tryCatch({ knitr::knit("discreet.Rmd", quiet = TRUE); NULL }, error = identity)
knitted <- if (is.null(wrong)) readLines("discreet.md") else character()
check("vignette", any(grepl("conf.low", knitted)) && any(grepl("figure/", knitted)), list(wrong, knitted))
server$stop()
if (length(failed)) quit(status = 1)
cat("everything of R's package is fine\n")
