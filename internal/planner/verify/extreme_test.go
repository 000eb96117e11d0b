package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

const extremePolicy = `datasets:
  d:
    engine: duckdb
    source: x.duckdb
    unit: people.pid
    budget: {epsilon: 1, delta: 1e-6}
    analysts: {a: {}}
    tables:
      people:
        unique: pid
        columns:
          age: {type: integer, bounds: [0, 100]}
          low: {type: integer, bounds: [-7, -3]}
          point: {type: integer, bounds: [5, 6]}
          big: {type: integer}
          cost: {type: decimal, bounds: [-10, 1000], granularity: 0.01}
          fine: {type: decimal, bounds: [0, 0.001], granularity: 0.000001}
          coarse: {type: decimal, bounds: [-1000000, 3000000], granularity: 500}
          third: {type: decimal, granularity: 0.25}
          free: {type: decimal}
          town: {type: text}
          sex: {type: text, keys: [F, M]}
          ok: {type: boolean}
          day: {type: date, bounds: [2023-12-30, 2024-03-01]}
          any: {type: date}
          at: {type: timestamp, bounds: [1999-12-31, 2024-02-29]}
          when: {type: timestamp}
`

// extreme makes up expressions of a kind, of constants and digits at which proofs break.
type extreme struct{ *rand.Rand }

func (r extreme) pick(all ...string) string { return all[r.IntN(len(all))] }

func (r extreme) constant() string {
	if r.IntN(3) > 0 {
		return r.pick("0", "1", "-1", "2", "0.5", "7", "10", "-3", "100", "2.5", "1000")
	}
	return fmt.Sprintf("%s%de%d", r.pick("", "-"), 1+r.IntN(9), r.IntN(71)-35)
}

func (r extreme) number(depth int) string {
	if depth == 0 {
		return r.pick("age", "low", "point", "big", "cost", "fine", "coarse", "third", "age", "cost", r.constant())
	}
	x := func() string { return r.number(depth - 1) }
	switch r.IntN(19) {
	case 0, 1, 2:
		return "(" + x() + r.pick(" + ", " - ", " * ", " * ") + x() + ")"
	case 3:
		return "(" + x() + " * " + r.constant() + " * " + r.constant() + ")"
	case 4:
		return "(" + x() + r.pick(" / ", " % ") + x() + ")"
	case 5, 6:
		return fmt.Sprintf("%s(%s, %d)", r.pick("round", "trunc"), x(), r.IntN(25)-12)
	case 7:
		return r.pick("floor", "ceil", "abs", "sign", "round", "-") + "(" + x() + ")"
	case 8:
		return r.pick("sqrt", "ln", "log10", "exp") + "(" + x() + ")"
	case 9:
		return "power(" + x() + ", " + r.pick("2", "3", "0.5", "-1", "0", "-2.5", "10") + ")"
	case 10:
		return r.pick("greatest", "least", "coalesce", "nullif") + "(" + x() + ", " + x() + ")"
	case 11:
		return "(CASE WHEN " + r.condition(depth-1) + " THEN " + x() + " ELSE " + x() + " END)"
	case 12:
		return "CAST(" + x() + " AS " + r.pick("integer", "bigint", "smallint", "numeric(10,2)", "numeric(30,12)", "numeric") + ")"
	case 13:
		return "CAST(" + r.text(depth-1) + " AS " + r.pick("integer", "numeric(10,2)", "numeric(30,12)") + ")"
	case 14:
		return r.pick("length("+r.text(depth-1)+")", "strpos("+r.text(depth-1)+", 'a')")
	case 15:
		return "extract(" + r.pick("year", "month", "isoyear", "epoch", "week", "doy", "quarter") + " FROM " + r.time(depth-1) + ")"
	case 16:
		return "(" + r.day(depth-1) + " - " + r.day(depth-1) + ")"
	case 17:
		return fmt.Sprintf("width_bucket(%s, %s, %s, %d)", x(), r.constant(), r.constant(), 1+r.IntN(20))
	}
	return x()
}

func (r extreme) text(depth int) string {
	if depth == 0 {
		return r.pick("town", "sex", "'12'", "''", "'abc'", "left(town, 5)")
	}
	x := func() string { return r.text(depth - 1) }
	switch r.IntN(9) {
	case 0, 1, 2:
		return "CAST(" + r.number(depth-1) + " AS text)"
	case 3:
		return "CAST(" + r.pick(r.time(depth-1), r.day(depth-1), r.condition(depth-1)) + " AS text)"
	case 4:
		return r.pick("("+x()+" || "+x()+")", "concat("+x()+", "+x()+")")
	case 5:
		return fmt.Sprintf(r.pick("lower(%s)", "upper(%s)", "ltrim(%s)", "rtrim(%s)", "trim(%s)", "split_part(%s, 'a', 2)",
			"replace(%s, 'a', '')",
			"replace(left(%s, 9), 'a', 'bcd')", "lpad(%s, 7, 'xy')", "rpad(%s, 1000)", "concat_ws('--', left(%s, 9), '', NULL)"), x())
	case 6:
		return fmt.Sprintf("%s(%s, %d)", r.pick("left", "right"), x(), r.IntN(30))
	case 7:
		return fmt.Sprintf("substring(%s, %d, %d)", x(), r.IntN(9)-4, r.IntN(30))
	}
	return x()
}

func (r extreme) day(depth int) string {
	if depth == 0 {
		return r.pick("day", "any", "DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '2024-02-29'")
	}
	switch r.IntN(5) {
	case 0:
		return "(" + r.day(depth-1) + r.pick(" + ", " - ") + r.pick("1", "400", "age", "big", "4000000") + ")"
	case 1:
		return "CAST(" + r.time(depth-1) + " AS date)"
	case 2:
		return "CAST(" + r.text(depth-1) + " AS date)"
	case 3:
		return "coalesce(" + r.day(depth-1) + ", " + r.day(depth-1) + ")"
	}
	return r.day(depth - 1)
}

func (r extreme) time(depth int) string {
	if depth == 0 {
		return r.pick("at", "\"when\"", "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'")
	}
	switch r.IntN(5) {
	case 0:
		return "(" + r.time(depth-1) + r.pick(" + ", " - ") + "INTERVAL '" +
			r.pick("1 month", "13 months 2 days", "1 day 3 hours", "9000 years", "1 microsecond") + "')"
	case 1:
		return "date_trunc('" + r.pick("year", "quarter", "month", "week", "day", "hour", "minute", "second") + "', " + r.time(depth-1) +
			")"
	case 2:
		return "CAST(" + r.day(depth-1) + " AS timestamp)"
	case 3:
		return r.pick("CAST("+r.text(depth-1)+" AS timestamp)",
			"date_bin('7 minutes', "+r.time(depth-1)+", TIMESTAMP '2024-01-01 00:00:00')")
	}
	return r.time(depth - 1)
}

func (r extreme) condition(depth int) string {
	if depth <= 0 {
		return r.pick("ok", "town = 'Zz9'", "age > 50", "free > 1.5")
	}
	switch r.IntN(8) {
	case 7:
		return "CAST(" + r.text(depth-1) + " AS boolean)"
	case 0, 1:
		return "(" + r.number(depth-1) + r.pick(" < ", " = ", " >= ", " IS DISTINCT FROM ") + r.number(depth-1) + ")"
	case 2:
		return "(" + r.text(depth-1) + r.pick(" < ", " = ") + r.text(depth-1) + ")"
	case 3:
		return "(" + r.text(depth-1) + r.pick(" LIKE 'a%'", " LIKE '%1_'", " LIKE '_'", " ~ '^[a-z]+$'", " !~* '(1|e)\\y'",
			" SIMILAR TO 'Zz_|a%'") + ")"
	case 4:
		return "(" + r.number(depth-1) + " IN (" + r.constant() + ", " + r.constant() + "))"
	case 5:
		return "(" + r.condition(depth-1) + r.pick(" AND ", " OR ") + "NOT " + r.condition(depth-1) + ")"
	}
	return "(" + r.pick(r.time(depth-1), r.day(depth-1)) + r.pick(" < ", " >= ") + r.pick("at", "day") + ")"
}

func (r extreme) question(most int) string {
	switch r.IntN(most) {
	case 0:
		return "SELECT SUM(" + r.number(1+r.IntN(4)) + ") FROM people"
	case 1:
		x := r.number(2)
		return "SELECT COUNT(*) FROM people WHERE " + r.text(1+r.IntN(4)) + " = 'a' AND " + x + " * " + x + " > 3"
	case 4:
		return "SELECT COUNT(*) FROM (SELECT " + r.text(1+r.IntN(4)) + " AS x, " + r.number(2) +
			" AS y FROM people) t WHERE x = 'a' AND y * y > 3"
	}
	return "SELECT COUNT(*) FROM people WHERE " + r.condition(1+r.IntN(4))
}

// TestExtremes: of questions at the ends of everything none that package planner accepts is refused
// here.
func TestExtremes(t *testing.T) {
	ds := parsed(t, extremePolicy)
	r := extreme{rand.New(rand.NewPCG(1, uint64(daily.Turn(1000))))} // others every day
	least := daily.Rounds(2_000, 20_000)
	n, asked, functions := 0, 0, map[string]bool{}
	disputed := map[string]int{}
	seen := func() bool {
		return !slices.ContainsFunc(expr.Nodes(), func(fn string) bool { return !functions[fn] })
	}
	for ; n < least || n < 20_000 && !testing.Short() && !seen(); n++ {
		text := r.question(5)
		st, err := planner.Prepare(ds, text, planner.Options{})
		if err != nil {
			continue
		}
		asked++
		q := &st.Plans[0].Query
		noteFunctions(q.Where, functions)
		for _, m := range q.Measures {
			noteFunctions(m.Arg, functions)
		}
		if err := verify.Query(ds, q); err != nil {
			why := err.Error()[strings.LastIndex(err.Error(), ": ")+2:]
			disputed[why]++
			// Products of zero by constants that no engine has a number for are claimed to be
			// harmless, and are not: an engine may compute with the constants first.
			if disputed[why] == 1 && !strings.Contains(why, "overflow together") && !strings.Contains(why, "a factor of more than") {
				t.Errorf("%s\n%v\n%s", text, err, q.Format())
			}
		}
	}
	t.Logf("%d of %d questions were accepted; disputed: %v", asked, n, disputed)
	if asked < n/4 {
		t.Error("too few questions for a test")
	}
	for _, fn := range expr.Nodes() {
		if !functions[fn] && !testing.Short() {
			t.Errorf("no question has the function %s; write one, and its rule where it has none", fn)
		}
	}
}
