# Prices, answers, values and errors, of the real server.
source("server.R")
if (!nzchar(binary)) exit_file("DISCREET_BINARY is not set: nothing can be asked")
server <- new_server()
con <- server$connect()
by_sex <- "SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY sex"

# The token is nowhere to be seen.
expect_false(any(grepl(server$token, c(capture.output(print(con)), capture.output(str(con)), format(con)), fixed = TRUE)))

# The price first, and it is what is paid.
quote <- discreet_quote(con, by_sex, epsilon = 0.5)
expect_equal(names(quote), c("measure", "error", "confidence", "price", "free", "affordable", "remaining", "after"))
expect_equal(quote$price, c(0.5, 0.5))
expect_false(any(quote$free))
expect_equal(nrow(discreet_receipts(con)), 0L)
answer <- discreet_ask(con, by_sex, epsilon = 0.5)
expect_equal(names(answer), c("sex", "term", "estimate", "conf.low", "conf.high", "price"))
expect_equal(answer$sex, rep(c("F", "M", "X", NA), 2), info = "a group without a value is NA")
expect_equal(answer$term, rep(c("n", "age"), each = 4))
expect_true(all(answer$price == 0.5))
expect_true(all(answer$conf.low < answer$estimate & answer$estimate < answer$conf.high))
expect_equal(answer$conf.high[1] - answer$estimate[1], quote$error[1])
expect_true(abs(answer$estimate[1] - 500) < 200)
expect_equal(attr(answer, "remaining")[["epsilon"]], 49.5)
expect_equal(discreet_receipts(con)$price, 0.5)

# What is interrupted after its charge has its name still when it is asked again, and is not paid for twice.
sent <- character()
interrupted <- server$connect()
once <- interrupted$handle
interrupted$handle <- function() {
  sent <<- c(sent, unlist(interrupted$lost, use.names = FALSE))
  if (length(sent) == 1L) {
    tools::pskill(Sys.getpid(), tools::SIGINT)
    for (i in 1:100) Sys.sleep(0.01)
  }
  once()
}
young <- "SELECT COUNT(*) FROM patients WHERE age < 33"
expect_equal(tryCatch(discreet_ask(interrupted, young), interrupt = function(i) "interrupted"), "interrupted")
expect_equal(discreet_ask(interrupted, young)$price, 0.1)
expect_equal(sent[1], sent[2])
expect_equal(discreet_receipts(con, 1)$request, sent[1])
expect_equal(discreet_ask(interrupted, young)$price, 0)
expect_true(sent[3] != sent[1])
old <- "SELECT COUNT(*) FROM patients WHERE age > 71"
interrupted$lost[[discreet:::as_json(discreet:::question(old, NULL, NULL, NULL, list(), NULL))]] <- sent[1]
expect_equal(discreet_ask(interrupted, old)$price, 0.1, info = "a name that no longer counts gives way to another")
expect_equal(sum(sent == sent[1]), 3L)
expect_equal(length(interrupted$lost), 0L)

# Again it is free, and the same.
again <- discreet_ask(con, by_sex, epsilon = 0.5)
expect_equal(again$price, rep(0, 8))
expect_equal(again$estimate, answer$estimate)
expect_true(discreet_quote(con, by_sex, epsilon = 0.5)$free[1])
expect_true(discreet_ask(con, by_sex, epsilon = 0.5, free = TRUE)$price[1] == 0)

# About people who do not exist it is free, and said.
made <- discreet_ask(con, "SELECT sex, COUNT(*) AS n FROM patients WHERE age > 33 GROUP BY sex", epsilon = 0.5, sandbox = TRUE)
expect_true(attr(made, "made_up") && grepl("^made up", attr(made, "notes")[1]))
expect_true(any(grepl("would cost at most epsilon 0.5", capture.output(print(made)))))
expect_false(attr(answer, "made_up"))

# By an error bar.
exact <- discreet_ask(con, "SELECT COUNT(*) AS n FROM patients WHERE age > 50", error = 20)
expect_true(exact$conf.high - exact$estimate <= 20)
expect_true(exact$price > 0.1 && exact$price < 0.2)
expect_equal(attr(discreet_ask(con, "SELECT COUNT(*) AS n FROM patients WHERE age > 50", confidence = 0.9), "confidence"), 0.9)

# As a table, with errors beside the numbers.
wide <- discreet_wide(answer)
expect_equal(names(wide), c("sex", "n", "n_error", "age", "age_error"))
expect_equal(wide$n, answer$estimate[1:4])
expect_equal(class(discreet_wide(answer, "character")$n), "character")
expect_error(discreet_wide(answer[1:2, ]), class = "discreet_invalid_error")

# What is printed belongs to the rows: two answers in one frame have no price together.
expect_true(any(grepl("price: epsilon 0.5", capture.output(print(answer)))))
expect_false(any(grepl("price: ", capture.output(print(rbind(answer, exact_rows <- answer[1, ]))))))
expect_false(any(grepl("price: ", capture.output(print(rbind(answer, answer))))))

# Values: dates, times, truth values, large numbers.
born <- discreet_ask(con, "SELECT born, COUNT(*) AS n, SUM(cost) AS cost FROM patients GROUP BY born ORDER BY born")
expect_equal(born$born, rep(as.Date(c("1980-01-01", "1990-01-01")), 2))
expect_true(all(born$estimate[3:4] > 5e5))
arrived <- discreet_ask(con, "SELECT arrived, COUNT(*) AS n, SUM(units) AS units FROM visits GROUP BY arrived ORDER BY arrived", epsilon = 1)
expect_equal(as.numeric(arrived$arrived[1:2]), c(1735720200, 1738411200.5), info = "times are UTC, with their fractions")
expect_true(all(arrived$estimate[3:4] > 2^53))
expect_true(any(grepl("at most 5 rows in each of at most 2 groups", attr(arrived, "notes"))))
smoker <- discreet_ask(con, "SELECT smoker, COUNT(*) FROM patients GROUP BY smoker")
expect_equal(sort(smoker$smoker), c(FALSE, TRUE))
expect_equal(smoker$term, c("count", "count"))
if (requireNamespace("bit64", quietly = TRUE)) {
  expect_inherits(discreet_wide(arrived, "integer64")$n, "integer64")
  large <- discreet:::native(list("9223372036854775807", NULL, 5L, "-9007199254740993"), "integer", "integer64")
  expect_equal(as.character(large), c("9223372036854775807", NA, "5", "-9007199254740993"))
}
expect_equal(discreet:::native(list("9223372036854775807", 2^53, 1e5), "integer", "character"), c("9223372036854775807", "9007199254740992", "100000"))

# What is not noisy has no estimate, and what has no rows has none.
keys <- discreet_ask(con, "SELECT DISTINCT sex FROM patients")
expect_equal(keys$sex, c("F", "M", "X", NA))
expect_true(all(is.na(keys$estimate)) && all(is.na(keys$term)))
none <- discreet_ask(con, "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex LIMIT 0")
expect_equal(dim(none), c(0L, 6L))
expect_equal(names(discreet_wide(none)), c("sex", "n", "n_error"))
median <- discreet_ask(con, "SELECT median(age) AS middle FROM patients")
expect_true(!is.na(median$estimate) && is.na(median$conf.low), info = "nobody knows how far off a median is")

# Names that are ours, and names that come twice.
ours <- discreet_ask(con, "SELECT sex AS price, COUNT(*) AS estimate, COUNT(*) AS estimate FROM patients GROUP BY sex")
expect_equal(names(ours), c("price.1", "term", "estimate", "conf.low", "conf.high", "price"))
expect_equal(ours$term, rep("estimate", 8))
expect_equal(anyDuplicated(names(discreet_wide(ours))), 0L)

# Parameters are values, whatever they look like.
count <- "SELECT COUNT(*) AS n FROM patients WHERE age > $1 AND sex = $2"
plain <- discreet_ask(con, "SELECT COUNT(*) AS n FROM patients WHERE age > 40 AND sex = 'F'")
for (forty in list(40, 40L, if (requireNamespace("bit64", quietly = TRUE)) bit64::as.integer64(40) else 40)) {
  expect_equal(discreet_ask(con, count, parameters = list(forty, factor("F")))$estimate, plain$estimate)
}
expect_equal(discreet_ask(con, sub(">", "<", count), parameters = list(1e5, "F"), free = FALSE)$term, "n")
hostile <- discreet_ask(con, count, parameters = list(40, "' OR '1'='1"))
expect_true(hostile$estimate < 250)
dates <- discreet_ask(con, "SELECT COUNT(*) AS n FROM patients WHERE born = $1 AND sex = ANY ($2)", parameters = list(as.Date("1980-01-01"), c("F", "M")), epsilon = 1)
expect_true(abs(dates$estimate - 500) < 150)
times <- discreet_ask(con, "SELECT COUNT(*) AS n FROM visits WHERE arrived >= $1", parameters = list(as.POSIXct(1738411200.5, origin = "1970-01-01")), epsilon = 1)
expect_true(abs(times$estimate - 2000) < 250, info = "a time is sent with its fraction")
nothing <- discreet_ask(con, "SELECT COUNT(*) AS n FROM patients WHERE sex = $1", parameters = list(NA_character_))
expect_equal(as.numeric(nothing$n), 0) # which is known, and so no estimate
expect_equal(discreet:::moment(as.POSIXct(0.9999999, origin = "1970-01-01")), "1970-01-01 00:00:01.000000")
expect_equal(vapply(list(0.1, 1e-5, 1/3, 100000, 2L, "0.25"), discreet:::exactly, ""), c("0.1", "1e-05", "0.3333333333333333", "100000", "2", "0.25"))

# Tables and the budget.
tables <- discreet_tables(con)
expect_equal(tables$column[tables$table == "visits"], c("ward", "arrived", "units"))
expect_equal(tables$highest[tables$table == "patients" & tables$column == "age"], "110")
expect_equal(tables$type[tables$table == "adults"], c("integer", "text"), info = "views have columns, too")
expect_equal(tables$values[[which(tables$column == "diagnosis")]], c("asthma", "diabetes", "flu"))
expect_true(any(grepl("asthma, diabetes, flu", capture.output(print(tables)))))
expect_true(length(capture.output(print(tables[1:2, c("column", "type")]))) == 3)
budget <- discreet_budget(con)
expect_equal(budget$account, "hospital/ana")
expect_equal(budget$spent, sum(discreet_receipts(con, 1000)$price))
expect_equal(budget$left + budget$spent, 50)
expect_true(any(grepl("left", capture.output(print(budget)))))

# Names of requests are not R's random numbers, and asking does not change these.
set.seed(7); first <- stats::runif(1); set.seed(7); discreet_ask(con, by_sex, epsilon = 0.5); expect_equal(stats::runif(1), first)
set.seed(7); discreet_ask(con, "SELECT COUNT(*) FROM patients WHERE age > 71")
set.seed(7); discreet_ask(con, "SELECT COUNT(*) FROM patients WHERE age > 72")
expect_equal(anyDuplicated(discreet_receipts(con, 1000)$request), 0L)
server$stop()
