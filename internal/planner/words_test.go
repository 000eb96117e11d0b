package planner

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner/expr"
)

// The page's completion knows every function that there is, and no other.
func TestPageKnowsFunctions(t *testing.T) {
	source, err := os.ReadFile("../server/web/src/ask/words.ts")
	if err != nil {
		t.Fatal(err)
	}
	listed := func(name string) []string {
		_, text, _ := strings.Cut(string(source), "const "+name+" = ")
		text, _, found := strings.Cut(text, ".split(' ')")
		if !found {
			t.Fatalf("there is no list of %s", name)
		}
		words := strings.Fields(strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9_ ]|\n`).ReplaceAllString(text, "")))
		slices.Sort(words)
		return words
	}
	same := func(name string, want []string) {
		slices.Sort(want)
		if got := listed(name); !slices.Equal(got, want) {
			t.Errorf("%s: web/src/ask/words.ts has\n%v\nand there are\n%v", name, got, want)
		}
	}
	same("aggregates", slices.Collect(maps.Keys(aggregates)))
	called := slices.DeleteFunc(expr.Functions(), func(name string) bool { return name == "||" })
	for name := range windowFunctions {
		if !isAggregate(name) {
			called = append(called, name)
		}
	}
	same("functions", called)
}
