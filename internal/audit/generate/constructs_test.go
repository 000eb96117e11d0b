package generate_test

import (
	"cmp"
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
)

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

// private matches what is about people.
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
		o := plan.Options{Public: reference.New(ds, generate.Make(generate.NewDice("public", 1), ds).Tables).Public()}
		m := generate.NewMaker(ds, o)
		take := func(text string) bool {
			_, err := generate.Prepare(ds, text, o)
			return err == nil
		}
		makers = append(makers, maker{m.Question, take}, maker{m.Sharp().Question, take})
	}
	made, taken, all := map[string]int{}, map[string]int{}, 0
	for i := range cmp.Or(*census, 4000) {
		m := makers[i%len(makers)]
		text := m.make(generate.NewDice("constructs", uint64(i)))
		found := found(text, patterns)
		if *census == 0 && !slices.ContainsFunc(found, func(name string) bool { return taken[name] == 0 }) {
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

// found names the constructs of a question.
func found(text string, patterns map[string][]*regexp.Regexp) (out []string) {
	for _, c := range constructs {
		if strings.HasSuffix(c.name, " alone") && private.MatchString(text) {
			continue
		}
		if !slices.ContainsFunc(patterns[c.name], func(p *regexp.Regexp) bool { return !p.MatchString(text) }) {
			out = append(out, c.name)
		}
	}
	return out
}
