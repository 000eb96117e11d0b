package lockstep

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/policy"
)

var ctx = context.Background()

const (
	pure         = "{epsilon: 1, per_query: {default: 0.5, max: 1}}"
	concentrated = "{epsilon: 10, delta: 1e-6, per_query: {default: 0.5, max: 1}}"
)

// rowsAndDates is a dataset whose rows are people, with all types of columns.
const rowsAndDates = `  rows:
    engine: duckdb
    source: nowhere.duckdb
    unit: row
    neighbours: substitute
    budget: {epsilon: 2, delta: 1e-6}
    analysts: {ana: {share: 0.01}}
    tables:
      "odd table":
        columns:
          balance: {type: integer, bounds: [-500, 100], granularity: 50}
          exact:   {type: decimal, bounds: [-1, 0], granularity: 0.005}
          free:    {type: decimal}
          big:     {type: integer}
          day:     {type: date, bounds: [2023-12-25, 2024-01-05]}
          born:    {type: date}
          "a b":   {type: text, keys: ["it's", "", null, "É"]}
          note:    {type: text}
          yes:     {type: boolean}
      other:
        columns: {}
`

// manyRows is a dataset where a person has many rows, everywhere.
const manyRows = `  shop:
    engine: duckdb
    source: shop
    unit: orders.who
    neighbours: NEIGHBOURS
    budget: BUDGET
    analysts: {ana: {share: 1}}
    tables:
      orders:
        max_rows: 3
        max_groups: 2
        columns:
          who:    {type: integer}
          amount: {type: decimal, bounds: [-20, 100], granularity: 0.01}
          items:  {type: integer, bounds: [1, 9]}
          shop:   {type: text, keys: [north, south, east, west, null]}
          gift:   {type: boolean}
`

func shop(neighbours, budget string) string {
	return strings.NewReplacer("NEIGHBOURS", neighbours, "BUDGET", budget).Replace(manyRows)
}

// writePolicy writes a policy and no data.
func writePolicy(t testing.TB, datasets string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte("datasets:\n"+datasets), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// onlyDataset returns the only dataset of a policy.
func onlyDataset(t testing.TB, datasets string) *policy.Dataset {
	t.Helper()
	p, err := policy.Load(writePolicy(t, datasets))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets[p.Names()[0]]
}

func clinic(budget string) string { return hospital.Dataset("hospital", "data", budget) }

// bySubstitution makes neighbours replace a person.
func bySubstitution(dataset string) string {
	return strings.Replace(dataset, "    budget:", "    neighbours: substitute\n    budget:", 1)
}
