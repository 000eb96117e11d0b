package generate_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/reference"
)

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
	for _, ds := range generate.Extremes() {
		with, _ := generate.Pair(generate.NewDice("sharp", 1), ds)
		o := planner.Options{Public: reference.New(ds, with.Tables).Public()}
		m := generate.NewMaker(ds, o).Sharp()
		const n = 250
		taken := 0
		for i := range n {
			text := m.Question(generate.NewDice("sharp", uint64(i)))
			if _, err := generate.Prepare(ds, text, o); err != nil {
				continue
			}
			taken++
			for f, p := range patterns {
				if p.MatchString(text) {
					seen[f]++
				}
			}
		}
		if taken < n*9/10 {
			t.Errorf("%s: only %d of %d questions are taken", ds.Name, taken, n)
		}
		lines, _ := m.Lines()
		t.Logf("%s: %d of %d questions are taken; %d lines of the language", ds.Name, taken, n, lines)
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
