package generate_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// TestQuestionsAreValid measures how many questions the planner takes, and what it says of the
// others.
func TestQuestionsAreValid(t *testing.T) {
	all := daily.Sample(t, upTo(300), 80)
	for _, ds := range generate.Worlds() {
		o := planner.Options{Public: reference.New(ds, generate.Make(generate.NewDice("public", 1), ds).Tables).Public()}
		m := generate.NewMaker(ds, o)
		n, taken := len(all), 0
		reasons := map[string]int{}
		example := map[string]string{}
		for _, i := range all {
			text := m.Question(generate.NewDice("question", i))
			_, err := generate.Prepare(ds, text, o)
			var r *api.Refusal
			switch {
			case err == nil:
				taken++
			case errors.As(err, &r):
				reasons[r.Reason]++
				if old := example[r.Reason]; old == "" || len(text) < len(old) {
					example[r.Reason] = text
				}
			default:
				t.Errorf("not a refusal: %v", err)
			}
		}
		lines, of := m.Lines()
		t.Logf("%s: %d of %d questions are taken; %d of %d lines of the language", ds.Name, taken, n, lines, of)
		for _, r := range slices.SortedFunc(maps.Keys(reasons), func(a, b string) int { return reasons[b] - reasons[a] }) {
			if testing.Verbose() && reasons[r] > 2 {
				fmt.Printf("%4d %s\n     %s\n", reasons[r], r, example[r])
			}
		}
		least := n * daily.Rounds(4, 6) / 10
		if ds.Budget.Pure() {
			least = n * daily.Rounds(3, 5) / 10 // private keys are refused
		}
		if taken < least {
			t.Errorf("%s: only %d of %d questions are taken", ds.Name, taken, n)
		}
	}
}

// TestTextsAreHarmless sends texts near the grammar: each is refused, at a place inside of it, or
// is a statement that can be priced.
func TestTextsAreHarmless(t *testing.T) {
	all := daily.Sample(t, upTo(3000), 800)
	n := len(all)
	for _, ds := range []int{0, 2} {
		ds := generate.Worlds()[ds]
		o := planner.Options{Public: reference.New(ds, generate.Make(generate.NewDice("public", 1), ds).Tables).Public()}
		m := generate.NewMaker(ds, o)
		taken := 0
		for _, i := range all {
			text := m.Text(generate.NewDice("text", i))
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("%q: panic: %v", text, r)
					}
				}()
				s, err := generate.Prepare(ds, text, o)
				var r *api.Refusal
				switch {
				case err != nil && !errors.As(err, &r):
					t.Errorf("%q: not a refusal: %v", text, err)
				case err != nil && (r.Reason == "" || r.Position < -1 || r.Position > len(text) || !utf8.ValidString(r.Error())):
					t.Errorf("%q: %+v", text, r)
				case err == nil:
					taken++
					for _, p := range s.Plans {
						for _, measure := range p.Query.Measures {
							if measure.Kind != tree.Quantile {
								p.Query.Sensitivity(measure, dp.L1) // panics where it is not positive
							}
							measure.Describe()
						}
						if strings.Contains(p.Query.Hash(), generate.Mark) {
							t.Errorf("%q: a name in a hash", text)
						}
					}
				}
			}()
		}
		t.Logf("%s: %d of %d texts are taken", ds.Name, taken, n)
		if taken < n/30 || taken > n*3/4 {
			t.Errorf("%s: %d of %d texts are taken, which is not near the grammar", ds.Name, taken, n)
		}
	}
}

// TestSame: the same seed makes the same question and the same database.
func TestSame(t *testing.T) {
	ds := generate.Worlds()[0]
	m := generate.NewMaker(ds, planner.Options{})
	seen := map[string]bool{}
	for i := range uint64(50) {
		a, b := m.Question(generate.NewDice("same", i)), m.Question(generate.NewDice("same", i))
		if a != b {
			t.Errorf("%q and %q", a, b)
		}
		seen[a] = true
		x, y := generate.Make(generate.NewDice("same", i), ds), generate.Make(generate.NewDice("same", i), ds)
		if fmt.Sprint(x.Tables) != fmt.Sprint(y.Tables) {
			t.Errorf("two databases of the seed %d", i)
		}
	}
	if len(seen) < 45 {
		t.Errorf("only %d different questions", len(seen))
	}
}

// upTo returns the numbers below n, of which a day has some.
func upTo(n uint64) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i)
	}
	return out
}

// TestQualifiedQuestions: a question that is taken is the same question with the dataset and the
// schema before its tables, and one that is refused is refused still.
func TestQualifiedQuestions(t *testing.T) {
	for _, ds := range generate.Worlds() {
		o := planner.Options{Public: reference.New(ds, generate.Make(generate.NewDice("public", 1), ds).Tables).Public()}
		m := generate.NewMaker(ds, o)
		asked := 0
		for _, i := range daily.Sample(t, upTo(120), 35) {
			text := m.Question(generate.NewDice("names", i))
			plain, full := respelled(text, ""), respelled(text, ds.Name)
			if plain == "" || full == "" {
				continue
			}
			asked++
			before, err := generate.Prepare(ds, plain, o)
			after, other := generate.Prepare(ds, full, o)
			switch {
			case (err == nil) != (other == nil):
				t.Errorf("%s\n%v\n%s\n%v", plain, err, full, other)
			case err == nil && meaning(before) != meaning(after):
				t.Errorf("%s\nmeans another thing than\n%s", full, plain)
			}
		}
		if asked < daily.Rounds(20, 100) {
			t.Errorf("%s: %d questions", ds.Name, asked)
		}
	}
}

// meaning is what the private queries of a statement are known by.
func meaning(s *planner.Statement) string {
	var parts []string
	for _, p := range s.Plans {
		parts = append(parts, p.Query.Format())
	}
	return strings.Join(parts, "\n")
}

// respelled is a question with the dataset and the schema before every table that is none of WITH;
// nothing where the parser and its printer do not agree.
func respelled(text, dataset string) string {
	parsed, err := pg.Parse(text)
	if err != nil {
		return ""
	}
	with := map[string]bool{}
	for _, change := range []func(*pg.Node){
		func(n *pg.Node) { with[n.GetCommonTableExpr().GetCtename()] = true },
		func(n *pg.Node) {
			if v := n.GetRangeVar(); v != nil && dataset != "" && !with[v.Relname] {
				v.Catalogname, v.Schemaname = dataset, "public"
			}
		},
	} {
		syntax.EachNode(parsed.Stmts[0].Stmt, func(n *pg.Node) bool { change(n); return true })
	}
	out, err := pg.Deparse(parsed)
	if err != nil {
		return ""
	}
	if _, err := pg.Parse(out); err != nil {
		return ""
	}
	return out
}

var census = flag.Int("census", 0, "how many questions constructs are counted in, 20000 for a table that is worth reading; 0 for as many "+
	"as it takes until each was taken, of 4000")

// construct is something that questions can have in them: all of these patterns match.
type construct struct {
	name     string
	patterns []string
}

// constructs are what the makers must make. Where it is of a person's own rows, a window or GROUP
// BY of the person stands inside the rows that are asked about.
var constructs = []construct{
	{"a join", []string{` JOIN `}},
	{"FULL JOIN", []string{` FULL JOIN `}},
	{"NATURAL", []string{` NATURAL `}},
	{"a comma in FROM", []string{`FROM [\w". ]+ AS \w+, `}},
	{"WITH", []string{`^WITH `}},
	{"UNION ALL", []string{` UNION ALL `}},
	{"EXISTS", []string{`EXISTS \(`}},
	{"IN of a subquery", []string{` IN \(SELECT `}},
	{"a window of a person", []string{` OVER \(PARTITION BY `}},
	{"a group of a person", []string{`\(SELECT [^()]* AS \w+, .* GROUP BY \w+\.\w+`}},
	{"a window and FULL JOIN", []string{` OVER \(PARTITION BY `, ` FULL JOIN `}},
	{"a window and NATURAL", []string{` OVER \(PARTITION BY `, ` NATURAL `}},
	{"a window and commas", []string{` OVER \(PARTITION BY `, `FROM [\w". ]+ AS \w+, `}},
	{"grouping sets", []string{setsPattern}},
	{"grouping sets and a window", []string{setsPattern, ` OVER \(PARTITION BY `}},
	{"grouping sets of persons' groups", []string{setsPattern, `GROUP BY .*GROUP BY `}},
	{"GROUPING()", []string{`GROUPING\(`}},
	{"a choice", []string{`ORDER BY .* LIMIT `}},
	{"HAVING", []string{` HAVING `}},
	{"FILTER", []string{` FILTER \(`}},
	{"existence by LIMIT", []string{`SELECT 1 AS one FROM .* LIMIT 1$`}},
	{"existence by EXISTS", []string{`SELECT EXISTS \(SELECT \* FROM `}},
	{"a limit of series, joined", []string{`JOIN \(SELECT .* LIMIT \d+\) AS \w+ ON `}},
	{"a limit of series, by IN", []string{` IN \(SELECT .* GROUP BY .* ORDER BY .* LIMIT \d+\)`}},
	{"keys by DISTINCT", []string{`^SELECT DISTINCT `}},
	{"keys by GROUP BY", []string{`^SELECT \S+ AS \w+ FROM [^()]* GROUP BY [^()]*$`}},
	{"public tables alone", []string{`^SELECT`}},
	{"a join of public tables alone", []string{` JOIN `}},
	{"an answer beside a public table", []string{`GROUP BY .*\) AS \w+ (LEFT )?JOIN \S*(codes|rates|skewed|nothing)`}},
	{"a stored moment", []string{`\bmoment\b`}},
	{"date_trunc of a stored moment", []string{`date_trunc\('\w+', \S*\bmoment"?\)`}},
	{"date_bin of a stored moment", []string{`date_bin\([^)]*\bmoment\b`}},
	{"extract of a stored moment", []string{`extract\(\w+ FROM \S*\bmoment"?\)`}},
	{"to_char of a stored moment", []string{`to_char\(\S*\bmoment\b`}},
	{"a range of a stored moment, as keys", []string{`\bmoment"? (>=|<|BETWEEN|>|<=) `, `GROUP BY .*\bmoment\b`}},
	{"a schema", []string{`FROM public\.| JOIN public\.`}},
	{"a schema in quotes", []string{`"public"\."\w+"`}},
	{"the schema before a column", []string{`"public"\."\w+"\.\w+`}},
	{"the dataset's name", []string{`"[\w /-]+"\.public\.`}},
	{"ONLY", []string{` ONLY `}},
	{"SIMILAR TO", []string{` SIMILAR TO `}},
	{"a regular expression", []string{` !?~\*? `}},
	{"ILIKE", []string{` ILIKE `}},
	{"width_bucket", []string{`width_bucket\(`}},
	{"bool_and of a person", []string{`bool_and\(`}},
	{"bool_or of a person", []string{`bool_or\(`}},
	{"now()", []string{`now\(\)|CURRENT_DATE|CURRENT_TIMESTAMP`}},
}

var private = regexp.MustCompile(`patients|profiles|visits|labs|orders|items|parts|north|south|west|people|cards|bills|lines|dear|everyday`)

const setsPattern = `ROLLUP \(|CUBE \(|GROUPING SETS \(`

// TestConstructs counts how often each construct is made, and how often such a question is taken:
// what is never made or never taken is not tested by any random question.
func TestConstructs(t *testing.T) {
	patterns := map[string][]*regexp.Regexp{}
	for _, c := range constructs {
		for _, p := range c.patterns {
			patterns[c.name] = append(patterns[c.name], regexp.MustCompile(p))
		}
	}
	type maker struct {
		make func(generate.Dice) string
		take func(string) bool
	}
	var makers []maker
	for _, ds := range append(generate.Worlds(), generate.Extremes()...) {
		o := planner.Options{Public: reference.New(ds, generate.Make(generate.NewDice("public", 1), ds).Tables).Public()}
		m := generate.NewMaker(ds, o)
		take := func(text string) bool {
			_, err := generate.Prepare(ds, text, o)
			return err == nil
		}
		makers = append(makers, maker{m.Question, take}, maker{m.Sharp().Question, take})
	}
	made, taken, all := map[string]int{}, map[string]int{}, 0
	for i := range cmp.Or(*census, 4000) {
		if *census == 0 && len(taken) == len(constructs) {
			break // each was taken
		}
		m := makers[i%len(makers)]
		text := m.make(generate.NewDice("constructs", uint64(i)))
		found := found(text, patterns, func(name string) bool { return *census == 0 && taken[name] > 0 })
		if *census == 0 && len(found) == 0 {
			continue // to plan it takes most of the time, and would show nothing
		}
		ok := m.take(text)
		if ok {
			all++
		}
		for _, name := range found {
			if made[name]++; ok {
				taken[name]++
			}
		}
	}
	t.Logf("%d questions are taken", all)
	for _, c := range constructs {
		t.Logf("%-42s made %5d, taken %5d", c.name, made[c.name], taken[c.name])
		if taken[c.name] == 0 {
			t.Errorf("%s is made %d times and never taken", c.name, made[c.name])
		}
	}
}

func found(text string, patterns map[string][]*regexp.Regexp, known func(name string) bool) (out []string) {
	for _, c := range constructs {
		if known(c.name) || strings.HasSuffix(c.name, " alone") && private.MatchString(text) {
			continue
		}
		if !slices.ContainsFunc(patterns[c.name], func(p *regexp.Regexp) bool { return !p.MatchString(text) }) {
			out = append(out, c.name)
		}
	}
	return out
}

// forms are what there must be in sharp questions that the planner takes, each in some of a few
// hundred.
var forms = []string{
	`'Zz9'`, `\de-3[0-5]`, `\de3[0-5]`, `9223372036854775808`, `17014118346046923173168730371588410572`,
	`1329227995784915872903807060280344575`, `, -12\)`, `, 12\)`,
	`AS text`, `length\(CAST`, `U&'`, "e\u0301", `0001-01-01`, `9999-12-31`, `INTERVAL`, `width_bucket`, `% 1\)`,
	`IN \(SELECT`, `\)\) (NOT )?IN \(SELECT`, `EXISTS \(SELECT [^|]*EXISTS \(SELECT`, `\(SELECT (COUNT|SUM|MIN|MAX)\(`, `FILTER \(WHERE`,
	`GROUP BY`, `HAVING`, `WITH`, `UNION ALL`, ` JOIN `, `LEFT JOIN`, `CASE WHEN`, `FROM everyday`, `FROM dear`,
	`SUM\(`, `AVG\(`, `VARIANCE\(`, `MEDIAN\(`, `COUNT\(DISTINCT`, `LIMIT`,
}

// TestSharp: nearly all sharp questions are taken, and among those there is all that can break
// something.
func TestSharp(t *testing.T) {
	seen, patterns := map[string]int{}, map[string]*regexp.Regexp{}
	for _, f := range forms {
		patterns[f] = regexp.MustCompile(f)
	}
	type world struct {
		*generate.Maker
		ds *policy.Dataset
		o  planner.Options
	}
	take := func(w world, text string) bool {
		if _, err := generate.Prepare(w.ds, text, w.o); err != nil {
			return false
		}
		for f, p := range patterns {
			if seen[f] == 0 && p.MatchString(text) {
				seen[f]++
			}
		}
		return true
	}
	const all = 250
	var worlds []world
	today := daily.Sample(t, upTo(all), 40)
	for _, ds := range generate.Extremes() {
		with, _ := generate.Pair(generate.NewDice("sharp", 1), ds)
		o := planner.Options{Public: reference.New(ds, with.Tables).Public()}
		w := world{generate.NewMaker(ds, o).Sharp(), ds, o}
		worlds = append(worlds, w)
		taken, n := 0, len(today)
		for _, i := range today {
			if take(w, w.Question(generate.NewDice("sharp", i))) {
				taken++
			}
		}
		if taken < n*daily.Rounds(8, 9)/10 {
			t.Errorf("%s: only %d of %d questions are taken", ds.Name, taken, n)
		}
		lines, _ := w.Lines()
		t.Logf("%s: %d of %d questions are taken; %d lines of the language", ds.Name, taken, n, lines)
	}
	// What those of today do not have is looked for in all: to make and to plan them takes long.
	for at := 0; at < all*len(worlds) && len(seen) < len(forms); at++ {
		w, i := worlds[at%len(worlds)], uint64(at/len(worlds))
		if slices.Contains(today, i) {
			continue
		}
		text := w.Question(generate.NewDice("sharp", i))
		if slices.ContainsFunc(forms, func(f string) bool { return seen[f] == 0 && patterns[f].MatchString(text) }) {
			take(w, text)
		}
	}
	for _, f := range forms {
		if seen[f] == 0 {
			t.Errorf("no question has %s", f)
		}
	}
}

// TestPair: the target has a text that nobody else has, and is in one database only.
func TestPair(t *testing.T) {
	for _, ds := range append(generate.Worlds(), generate.Extremes()...) {
		marked := 0
		for i := range uint64(40) {
			with, without := generate.Pair(generate.NewDice("pair", i), ds)
			if strings.Contains(fmt.Sprint(without.Tables), generate.Target) {
				t.Errorf("%s: the target's text is in a database without them", ds.Name)
			}
			if strings.Contains(fmt.Sprint(with.Tables), generate.Target) {
				marked++
			}
			if ds.Neighbours == dp.AddRemove && with.Rows() <= without.Rows() {
				t.Errorf("%s: %d rows with the target, and %d without", ds.Name, with.Rows(), without.Rows())
			}
		}
		if marked < 30 {
			t.Errorf("%s: only %d of 40 databases have the target's text", ds.Name, marked)
		}
	}
}
