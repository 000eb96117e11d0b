package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
)

// TestQuestions reads the files: ten questions, none of them the same twice, or it would be free.
func TestQuestions(t *testing.T) {
	all, err := questions()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 10 {
		t.Errorf("%d questions", len(all))
	}
	for _, q := range all {
		if n := len(slices.Compact(slices.Sorted(slices.Values(q.texts)))); n != times {
			t.Errorf("%s is asked in %d ways", q.name, n)
		}
	}
	if _, err := read("-- A: 1, 2\nSELECT [A]"); err == nil {
		t.Error("two values are enough for five times")
	}
	if _, err := read("SELECT [A]"); err == nil {
		t.Error("a place without values is taken")
	}
}

// TestRelative has a group with error 1/4, one that the answer lacks, one that nobody is in, and one
// with an exact 0.
func TestRelative(t *testing.T) {
	a := &api.Answer{Columns: api.Columns{{Name: "k"}, {Name: "n", Noisy: true}}, Rows: [][]any{
		{"a", json.Number("75")}, {"nobody", json.Number("7")}, {"zero", json.Number("7")},
	}}
	var exact [][][]byte
	for _, row := range []string{"a   ,100", "lacking,10", "zero,0"} {
		k, n, _ := strings.Cut(row, ",")
		exact = append(exact, [][]byte{[]byte(k), []byte(n)})
	}
	got, err := relative(a, exact)
	if err != nil || !slices.Equal(got, []float64{0.25, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}
