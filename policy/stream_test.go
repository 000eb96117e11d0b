package policy_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

func TestMaxStreamCells(t *testing.T) {
	if policy.MaxStreamCells != linear.MaxCells {
		t.Errorf("a policy takes %d cells, and a domain %d", policy.MaxStreamCells, linear.MaxCells)
	}
}

const people = `
datasets:
  d:
    engine: duckdb
    source: people.csv
    unit: row
    budget: {epsilon: 1, delta: 1e-6}
    analysts: {ana: }
    tables:
      people:
        columns:
          age:    {type: integer, bounds: [0, 110]}
          income: {type: integer, bounds: [0, 1000], granularity: 100, nullable: false}
          weight: {type: decimal, bounds: [-1, 1], granularity: 0.01}
          born:   {type: date, bounds: [2024-01-30, 2024-03-02]}
          sex:    {type: text, keys: [F, M]}
          ward:   {type: integer, keys: [3, 1], bounds: [0, 9]}
          smoker: {type: boolean}
    streams:
      s: {table: people, columns: {age: {edges: [18, 65]}, income: {width: 300}, weight: {width: 0.5}, born: {width: 7}, sex: , ward: , smoker: }, size: 1000, alpha: 0.1}
`

// valueOf is what a question sees, as a value of the policy.
func valueOf(c *policy.Column, v tree.Value) policy.Value {
	out := policy.Value{Type: c.Type}
	switch v := v.(type) {
	case nil:
		out.Null = true
	case string:
		out.Text = v
	case bool:
		if v {
			out.Int = 1
		}
	case tree.Day:
		out.Int = int64(v)
	case *big.Int:
		out.Int = v.Int64()
	}
	return out
}

// Whatever is stored, a row is in exactly one cell, and it is the cell whose range holds what every
// question sees in the row, in WHERE as elsewhere.
func TestCellOfStoredValues(t *testing.T) {
	p, err := policy.Parse("p.yaml", []byte(people))
	if err != nil {
		t.Fatal(err)
	}
	d := p.Datasets["d"]
	r := rand.New(rand.NewPCG(1, 2))
	found := map[string]bool{}
	for _, b := range d.Streams["s"].Columns {
		c := d.Tables["people"].Columns[b.Name]
		for range 3000 {
			var stored any
			switch {
			case r.IntN(10) == 0:
				stored = nil
			case c.Type == policy.Text:
				stored = []string{"F", "M", "", "f", "(other)"}[r.IntN(5)]
			case c.Type == policy.Boolean:
				stored = r.IntN(2) == 0
			case c.Type == policy.Date:
				stored = int64(19752 - 20 + r.IntN(80))
			case c.Type == policy.Decimal:
				stored = (r.Float64() - 0.5) * 4
			case c.Name == "income":
				stored = int64(r.IntN(1600) - 300)
			default:
				stored = int64(r.IntN(150) - 20)
			}
			seen := valueOf(c, reference.Declared(c, stored))
			cell := b.Cell(seen)
			if seen.Null && !c.Nullable {
				if cell != -1 {
					t.Fatalf("%s: NULL, which may not be there, is in cell %d", c.Name, cell)
				}
				continue
			}
			if cell < 0 || cell >= b.Cells() {
				t.Fatalf("%s: %v, seen as %v, is in cell %d of %d", c.Name, stored, seen, cell, b.Cells())
			}
			found[fmt.Sprint(c.Name, " ", b.Labels()[cell])] = true
			switch {
			case seen.Null:
				if cell != len(b.Bins) {
					t.Fatalf("%s: NULL is in cell %d", c.Name, cell)
				}
			case b.Bins[cell].Range:
				if bin := b.Bins[cell]; seen.Int < bin.Lo || seen.Int > bin.Hi {
					t.Fatalf("%s: %v, seen as %v, is in %s", c.Name, stored, seen, bin.Label)
				}
			case b.Bins[cell].Other:
				for _, key := range c.KeyValues {
					if key == seen {
						t.Fatalf("%s: the key %v is in %s", c.Name, seen, b.Bins[cell].Label)
					}
				}
			default:
				if b.Bins[cell].Value != seen {
					t.Fatalf("%s: %v is in %s", c.Name, seen, b.Bins[cell].Label)
				}
			}
		}
		for _, label := range b.Labels() {
			if !found[c.Name+" "+label] {
				t.Errorf("nothing fell into %s %s: this proves little", c.Name, label)
			}
		}
	}
	// Edges by hand: 17.6 cannot be stored in an integer column, and 17 and 18 are in different
	// ranges; what is beyond the bounds is in the outer ones.
	age := d.Streams["s"].Columns[0]
	for stored, want := range map[int64]string{-5: "0..17", 17: "0..17", 18: "18..64", 64: "18..64", 65: "65..110", 111: "65..110"} {
		c := d.Tables["people"].Columns["age"]
		if got := age.Labels()[age.Cell(valueOf(c, reference.Declared(c, stored)))]; got != want {
			t.Errorf("%d is in %s; want %s", stored, got, want)
		}
	}
}

// The work of reading a policy is bounded however many streams it has.
func TestManyStreams(t *testing.T) {
	var b strings.Builder
	b.WriteString("datasets: {d: {engine: duckdb, source: a.csv, unit: row, budget: {epsilon: 1}, analysts: {a: }, tables: {t: {columns: " +
		"{c: {type: integer, bounds: [0, 1000000]}}}}, streams: {")
	for i := range 200 {
		fmt.Fprintf(&b, "s%d: {table: t, columns: {c: {width: 101}}, size: 100, alpha: 0.1}, ", i)
	}
	b.WriteString("}}}\n")
	if _, err := policy.Parse("p.yaml", []byte(b.String())); err == nil ||
		!strings.Contains(err.Error(), "all streams together have more than 1000000 values") {
		t.Errorf("got %v", err)
	}
}
