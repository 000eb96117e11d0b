package tools

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLikePostgres sends the corpus to our server and to a PostgreSQL with the same tables. What both
// answer has the same columns of the same types; where nothing is paid for it has the same values, but
// for what has a reason in testdata/differences.txt.
func TestLikePostgres(t *testing.T) {
	dial, _ := hospitalInPostgres(t)
	for _, c := range chosen(t) {
		t.Run(c.name, func(t *testing.T) {
			ours := &replay{t: t, testServer: open(t, 16), sessions: map[int]*connection{}}
			theirs := &replay{t: t, testServer: testServer{5432, "secret"}, dial: dial, sessions: map[int]*connection{}}
			defer ours.close()
			defer theirs.close()
			ours.charged()
			for i, l := range c.lines {
				is, failed := ours.send(l)
				should, failedThere := theirs.send(l)
				if l.statement == nil || failed != "" || failedThere != "" || is.err != nil || should.err != nil || is.lost != nil || should.lost != nil {
					continue
				}
				if difference := compare(l, is, should, ours.charged()); difference != "" {
					t.Logf("DIFF statement %d, %s: %s\n%s", i, l.step, difference, l.body())
				}
			}
		})
	}
}

func compare(l line, is, should *exchange, paid bool) string {
	if d := compareColumns(is.columns, should.columns); d != "" {
		return d
	}
	if paid || privateTable.MatchString(l.sql) {
		return ""
	}
	return compareRows(is, should)
}

var privateTable = regexp.MustCompile(`(?i)\bfrom\s+"?(patients|visits|elderly)\b`)

func compareColumns(is, should []column) string {
	if len(is) != len(should) {
		return fmt.Sprintf("it has %d columns, and in PostgreSQL %d", len(is), len(should))
	}
	for i := range is {
		if is[i].name != should[i].name {
			return fmt.Sprintf("column %d is called %q, and in PostgreSQL %q", i+1, is[i].name, should[i].name)
		}
		if is[i].oid != should[i].oid {
			return fmt.Sprintf("column %q is %s, and in PostgreSQL %s", is[i].name, typeName(is[i].oid), typeName(should[i].oid))
		}
	}
	return ""
}

func compareRows(is, should *exchange) string {
	if len(is.rows) != len(should.rows) {
		return fmt.Sprintf("it has %d rows, and in PostgreSQL %d", len(is.rows), len(should.rows))
	}
	a, b := printRows(is.rows), printRows(should.rows)
	if slices.Equal(a, b) {
		return ""
	}
	slices.Sort(a)
	slices.Sort(b)
	for i := range a {
		if a[i] != b[i] {
			return fmt.Sprintf("a row is\n  %s\nand in PostgreSQL\n  %s", a[i], b[i])
		}
	}
	return ""
}

func printRows(rows [][][]byte) []string {
	var out []string
	for _, r := range rows {
		var b strings.Builder
		for _, v := range r {
			if v == nil {
				b.WriteString("NULL|")
			} else {
				fmt.Fprintf(&b, "%q|", bytes.TrimSpace(v))
			}
		}
		out = append(out, b.String())
	}
	return out
}
