package duckdb

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/policy"
)

// The tests of this file break the proofs on purpose, and show that what is enforced behind them
// holds: nobody moves a result farther than its noise is calibrated to, and no row makes a question
// fail.

// shrunk says how an interval is made wrong.
var shrunk = map[string]func(lo, hi *big.Int) (*big.Int, *big.Int){
	"a tenth of the width": func(lo, hi *big.Int) (*big.Int, *big.Int) {
		part := new(big.Int).Sub(hi, lo)
		part.Quo(part.Mul(part, big.NewInt(9)), big.NewInt(20))
		return new(big.Int).Add(lo, part), new(big.Int).Sub(hi, part)
	},
	"off by one above": func(lo, hi *big.Int) (*big.Int, *big.Int) {
		if lo.Cmp(hi) == 0 {
			return lo, hi
		}
		return lo, new(big.Int).Sub(hi, big.NewInt(1))
	},
	"off by one below": func(lo, hi *big.Int) (*big.Int, *big.Int) {
		if lo.Cmp(hi) == 0 {
			return lo, hi
		}
		return new(big.Int).Add(lo, big.NewInt(1)), hi
	},
	"no widening": func(lo, hi *big.Int) (*big.Int, *big.Int) { return lo, lo },
}

// breakType makes the type of a node wrong.
func breakType(e tree.Expr, shrink func(lo, hi *big.Int) (*big.Int, *big.Int)) bool {
	f := reflect.ValueOf(e).Elem().FieldByName("Typ")
	if !f.IsValid() {
		return false
	}
	t := f.Addr().Interface().(*tree.Type)
	if t.Lo != nil && t.Hi != nil {
		t.Lo, t.Hi = shrink(t.Lo, t.Hi)
		t.Declared = true
	}
	if r := t.Range; r != nil {
		mid := r.Low/2 + r.High/2
		t.Range = &tree.Range{Low: mid - (mid-r.Low)/10, High: mid + (r.High-mid)/10}
		t.Declared = true
	}
	if t.MaxLength > 1 {
		_, hi := shrink(new(big.Int), big.NewInt(int64(t.MaxLength)))
		t.MaxLength = max(1, int(hi.Int64()))
	}
	return true
}

// calling returns the expressions of the corpus that call a function, in forms in which a question
// can have them.
func calling(name string) (out []string) {
	all := append(slices.Clone(functionCorpus), "abs(i)", "abs(d)", "abs(g)", "abs(i * d)", "sign(i)", "round(d)", "round(d, 1)",
		"trunc(d)", "floor(d)", "ceil(d)", "ceiling(d)", "mod(i, 7)", "mod(g, i)", "width_bucket(i, 0, 10, 4)",
		"coalesce(i, 3)", "coalesce(d, i)", "nullif(i, 1)", "greatest(i, 3)", "least(i, 3)", "greatest(d, i)", "length(left(s, 20))",
		"char_length(left(s, 9))", "character_length(left(s, 9))", "strpos(left(s, 7), 'a')", "position('a' in left(s, 7))",
		"lower(left(s, 5))", "upper(left(s, 5))", "trim(left(s, 5))", "ltrim(left(s, 5))", "rtrim(left(s, 5))", "btrim(left(s, 5))",
		"substr(s, 1, 4)", "substring(s, 1, 4)", "left(s, 4)", "right(s, 4)", "concat(left(s, 3), 'abc')", "left(s, 3) || 'abc'",
		"starts_with(s, 'a')",
		"sqrt(i)", "ln(i)", "log(i)", "log10(i)", "exp(i)", "power(i, 2)", "pow(d, 2)", "extract(doy from y)", "extract(year from y)",
		"date_part('day', y)", "date_trunc('month', y)")
	for _, x := range all {
		if !strings.Contains(x, name+"(") && !(name == "||" && strings.Contains(x, "||")) &&
			!(name == "btrim" && strings.HasPrefix(x, "trim(")) && !(name == "extract" && strings.Contains(x, "extract(")) {
			continue
		}
		out = append(out, "SUM("+x+")", "SUM(round("+x+"))", "SUM(round(("+x+") * 10))", "SUM("+x+" * 3)", "SUM(length("+x+"))",
			"SUM(extract(doy from "+x+"))", "COUNT("+x+")", "AVG("+x+")", "VARIANCE("+x+")", "COUNT(DISTINCT "+x+")",
			"SUM(CASE WHEN ("+x+") IS NOT NULL THEN i ELSE 0 END)", "SUM(i) FILTER (WHERE ("+x+") > 1)")
	}
	return out
}

// families are neighbours of every kind of unit: one row a person, by a column or by the row
// itself, and many. They are the same for all tests, none of which changes them, and are closed
// with the last.
func families(t *testing.T) map[string]family {
	if allFamilies != nil {
		return allFamilies
	}
	familiesFolder = must(os.MkdirTemp("", "families"))(t)
	out := map[string]family{}
	for name, s := range map[string]shape{"many": {policy.Many, 2, 2, "add-remove"}, "unique": {policy.Unique, 1, 1, "add-remove"},
		"row": {policy.Row, 1, 1, "substitute"}} {
		rapid.Custom(func(rt *rapid.T) bool {
			if _, ok := out[name]; !ok {
				folder := filepath.Join(familiesFolder, name)
				mustDo(t, os.Mkdir(folder, 0o777))
				out[name] = drawFamilyIn(folder, rt, t, s)
			}
			return true
		}).Example(1)
	}
	allFamilies = out
	return out
}

var (
	allFamilies    map[string]family
	familiesFolder string
)

// outcome runs a query as a user's is run, and as SQL alone, and compares neighbours. It says what
// must not be.
func (f family) outcome(t *testing.T, q *tree.Query) string {
	for how, run := range map[string]func(*Engine) (*engine.Result, error){
		"in Go":  func(e *Engine) (*engine.Result, error) { return e.Run(t.Context(), q) },
		"in SQL": func(e *Engine) (*engine.Result, error) { return e.now.Run(t.Context(), q, e.now.Statements(q)) },
	} {
		if how == "in Go" && !slices.ContainsFunc(f.with.now.Statements(q), func(s sqlgen.Statement) bool { return s.Summed }) {
			continue // nothing of it is: it is the same once more
		}
		var results [3]*engine.Result
		for i, e := range []*Engine{f.without, f.with, f.replaced} {
			var err error
			if results[i], err = run(e); err != nil {
				return how + ": it fails: " + runAgain(t, e, q).Error()
			}
		}
		if far := exceedsSensitivity(q, results); far != "" {
			return how + ": " + far
		}
	}
	return ""
}

// posed is an expression, or a question, and what a person is.
type posed struct{ text, kind string }

func posedOf(texts, kinds []string) (out []posed) {
	for _, text := range texts {
		for _, kind := range kinds {
			out = append(out, posed{text, kind})
		}
	}
	return out
}

func shuffled[T any](choices detrand.Choices, list []T) []T {
	for i := range list {
		k := i + choices.Below(len(list)-i)
		list[i], list[k] = list[k], list[i]
	}
	return list
}

// builder makes a function of its arguments.
type builder = func(args []tree.Expr, pos int32) (tree.Expr, error)

// TestWrongIntervals plants intervals that are too small in every function, one at a time. Noise is
// then calibrated to too little, and what is summed is clamped to just that.
func TestWrongIntervals(t *testing.T) {
	all, choices := families(t), daily.Choices(t)
	kinds := slices.Sorted(maps.Keys(all))
	asked, planted, broken := 0, 0, 0
	for _, name := range daily.Sample(t, expr.Functions(), 25) {
		// Tests reach into the row, so that nothing has to be there for them in what is shipped.
		build := (*builder)(unsafe.Pointer(reflect.ValueOf(expr.Lookup(name)).Elem().FieldByName("build").UnsafeAddr()))
		right := *build
		used := 0
		for _, how := range shuffled(choices, slices.Sorted(maps.Keys(shrunk)))[:rounds(1, len(shrunk))] {
			shrink := shrunk[how]
			*build = func(args []tree.Expr, pos int32) (tree.Expr, error) {
				e, err := right(args, pos)
				if err == nil && breakType(e, shrink) {
					broken++
				}
				return e, err
			}
			left := rounds(1, math.MaxInt) // for each mistake of each function
			for _, c := range shuffled(choices, posedOf(calling(name), kinds)) {
				f := all[c.kind]
				p, err := prepareOne(f.with.dataset, "SELECT "+c.text+" FROM t")
				if err != nil {
					continue
				}
				asked++
				used++
				if bad := f.outcome(t, &p.Query); bad != "" {
					t.Errorf("%s with %s, where a person is %s: SELECT %s FROM t: %s", name, how, c.kind, c.text, bad)
				}
				if left--; left == 0 {
					break
				}
			}
			*build = right
		}
		if used > 0 {
			planted++
		}
	}
	t.Logf("%d functions with %d mistakes each, %d questions on three neighbours, twice each", planted, rounds(1, len(shrunk)), asked)
	if planted < rounds(8, 20) || broken < asked/2 || asked < rounds(12, 5000) {
		t.Errorf("only %d functions, %d intervals and %d questions: too few for a test", planted, broken, asked)
	}
}

// failing is SQL that fails for some rows.
var failing = map[string]string{
	"overflows":            "9223372036854775807::BIGINT + CAST(hash(%s) %% 3 + 1 AS BIGINT)",
	"casts wrongly":        "CAST('x' || hash(%s) AS BIGINT)",
	"is out of its domain": "sqrt(-1 - CAST(hash(%s) %% 3 AS BIGINT))",
	"has no such month":    "year(make_date(2024, CAST(13 + hash(%s) %% 3 AS INTEGER), 1))",
	"is of another length": "len(CAST([hash(%s)] AS UBIGINT[2]))",
}

// printedCalls have every function that is printed.
var printedCalls = []string{"abs(i)", "sign(i)", "round(d)", "trunc(d)", "floor(d)", "ceil(d)", "coalesce(i, 3)",
	"nullif(i, 1)", "greatest(i, 3)", "least(i, 3)", "length(left(s, 20))", "strpos(left(s, 7), 'a')",
	"length(lower(left(s, 5)))",
	"length(upper(left(s, 5)))", "length(trim(left(s, 5)))", "length(ltrim(left(s, 5)))", "length(rtrim(left(s, 5)))",
	"length(right(s, 4))", "length(concat(left(s, 3), 'abc'))", "length(left(s, 3) || 'abc')", "round(sqrt(i))",
	"round(ln(i))", "round(log10(i))",
	"round(exp(i))", "round(power(i, 2))", "extract(doy from y)", "extract(doy from date_trunc('month', y))",
	"extract(doy from y + 3)", "y - DATE '2024-01-01'", "extract(doy from CAST(CAST(y AS timestamp) AS date))",
	"extract(doy from y + INTERVAL '1 month')", "length(CAST(i AS text))", "CAST(left(s, 3) AS numeric(4,2))",
	"least(greatest(CAST(s AS integer), 0), 9)", "extract(doy from CAST(s AS date))",
	"extract(doy from CAST(s AS timestamp))", "CASE WHEN CAST(s AS boolean) THEN 1 ELSE 0 END"}

// planned is a question, and what a person is.
type planned struct {
	posed
	query *tree.Query
}

// plannedQuestions asks for what calls every function, in several places of a question.
func plannedQuestions(all map[string]family) (out []planned) {
	var texts []string
	for _, x := range printedCalls {
		texts = append(texts, "SELECT SUM("+x+") FROM t", "SELECT COUNT(*) FROM t WHERE "+x+" > 1",
			"SELECT COUNT(*) FROM t GROUP BY CASE WHEN "+x+" > 1 THEN 'a' ELSE 'b' END")
	}
	for _, c := range posedOf(texts, slices.Sorted(maps.Keys(all))) {
		if p, err := prepareOne(all[c.kind].with.dataset, c.text); err == nil {
			out = append(out, planned{c, &p.Query})
		}
	}
	return out
}

// TestWrongPrinters plants printers that fail for some rows, one function at a time: the question
// runs all the same, on all neighbours.
func TestWrongPrinters(t *testing.T) {
	types := map[tree.Kind]string{tree.Text: "VARCHAR", tree.Boolean: "BOOLEAN", tree.Real: "DOUBLE", tree.Number: "BIGINT",
		tree.Date:      "BIGINT",
		tree.Timestamp: "BIGINT"}
	all, choices := families(t), daily.Choices(t)
	questions := plannedQuestions(all)
	asked, planted := 0, 0
	for _, fn := range daily.Sample(t, expr.Nodes(), 25) {
		printed := sqlDialect.Functions[fn]
		// Each function has some of the mistakes, and each mistake is in some of the functions.
		for _, how := range shuffled(choices, slices.Sorted(maps.Keys(failing)))[:rounds(1, len(failing))] {
			bad, used := failing[how], false
			sqlDialect.Functions[fn] = func(p *sqlgen.ExprPrinter, e *tree.Call) string {
				text := printed(p, e)
				used = true
				return fmt.Sprintf("(CASE WHEN hash(%s) %% 3 = 0 THEN CAST(%s AS %s) ELSE %s END)", text, fmt.Sprintf(bad, text),
					types[e.Type().Kind], text)
			}
			left := rounds(1, math.MaxInt)
			for _, c := range shuffled(choices, questions) {
				f := all[c.kind]
				used = false
				if f.with.now.Statements(c.query); !used {
					continue
				}
				asked++
				if bad := f.outcome(t, c.query); bad != "" {
					t.Errorf("%s that %s, where a person is %s: %s: %s", fn, how, c.kind, c.text, bad)
				}
				if left--; left == 0 {
					break
				}
			}
		}
		sqlDialect.Functions[fn] = printed
		planted++
	}
	t.Logf("%d functions with %d mistakes each, %d questions on three neighbours, twice each", planted, rounds(1, len(failing)), asked)
	if asked < rounds(10, 2000) {
		t.Errorf("only %d questions: too few for a test", asked)
	}
}

// TestWrongTexts plants mistakes in the SQL of whole questions: what was printed to hold and does
// not leaves the clamps, and these hold.
func TestWrongTexts(t *testing.T) {
	all, turn := families(t), turnOf(t, 6)
	kinds, half := slices.Sorted(maps.Keys(all)), turn/3
	for name, planted := range map[string][2]string{
		"casts that fail":                 {"TRY_CAST(", "CAST("},
		"numbers of 64 bits":              {" AS HUGEINT) * ", " AS BIGINT) * "},
		"divisors that are not looked at": {"nullif(", "coalesce("},
		"columns that are not clamped":    {"THEN CASE WHEN", "THEN 1000 * CASE WHEN"},
		"products instead of sums":        {" + ", " * "},
	} {
		changed := 0
		for _, x := range []string{"i", "d", "i * d", "i / 2", "i % 3", "g * i", "-d", "d * 0.5", "j / k", "i * i * i * i",
			"round(d * 10)", "width_bucket(j, 0, 10, 4)", "i + 7 - g", "CAST(r AS numeric(6,3))"} {
			for _, text := range []string{"SELECT SUM(" + x + ") FROM t", "SELECT SUM(i) FROM t WHERE (" + x + ") > 1",
				"SELECT s, SUM(i) FROM t WHERE (" + x + ") > 1 GROUP BY s"} {
				turn++
				for k, kind := range kinds {
					if !daily.Full() && turn%len(kinds) != k {
						continue // one kind of people, by turns
					}
					f := all[kind]
					p, err := prepareOne(f.with.dataset, text)
					if err != nil {
						continue
					}
					if _, ok := mutant(f.with.now.Statements(&p.Query),
						func(s string) string { return strings.ReplaceAll(s, planted[0], planted[1]) }); !ok {
						continue
					}
					changed++
					if !daily.Full() && (changed+half)%2 != 0 && changed != 1 {
						continue // every second one
					}
					if far := f.tooFar(t, &p.Query, func(s string) string {
						return strings.ReplaceAll(s, planted[0],
							planted[1])
					}); far != "" {
						t.Errorf("%s, where a person is %s: %s: %s", name, kind, text, far)
					}
				}
			}
		}
		if changed == 0 {
			t.Errorf("%s: no question has it", name)
		}
	}
}
