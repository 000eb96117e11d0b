package pgcatalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/inventory"
)

const answered = "answered"

// verdicts says of everything that PostgreSQL has whether it is answered, or why not.
func verdicts(c *Catalog) (lines []string, counts map[string]int) {
	counts = map[string]int{}
	note := func(what, says string) {
		lines = append(lines, what+"\t"+says)
		counts[says]++
	}
	for i := range inventory.Functions {
		f := &inventory.Functions[i]
		says := string(f.Why())
		if library.Answers(c.db, f) {
			says = answered
		}
		note(f.Signature(), says)
	}
	for i := range inventory.Operators {
		o := &inventory.Operators[i]
		says := string(o.Why())
		if interpret.AnswersOperator(c.db, o) {
			says = answered
		}
		note(strings.TrimSpace(o.Left+" "+o.Name+" "+o.Right), says)
	}
	return lines, counts
}

// TestInventory: what is answered, and why the rest is refused, is as testdata/inventory.tsv says.
func TestInventory(t *testing.T) {
	lines, counts := verdicts(testCatalog(t))
	text := strings.Join(lines, "\n") + "\n"
	if *rewrite {
		must(t, os.WriteFile("testdata/inventory.tsv", []byte(text), 0o644))
	}
	want, err := os.ReadFile("testdata/inventory.tsv")
	must(t, err)
	before := strings.Split(strings.TrimSpace(string(want)), "\n")
	for _, line := range lines {
		if !slices.Contains(before, line) {
			t.Errorf("now %s; go test ./internal/pgcatalog -run TestInventory -rewrite writes it", line)
		}
	}
	for says, n := range counts {
		t.Logf("%5d %s", n, says)
	}
}

var _ = []any{context.Background, errors.As, fmt.Sprint, answered}
