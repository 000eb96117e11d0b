package lockstep

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/policy"
)

// TestMain lets garbage lie longer: plans of thousands of questions are made and dropped, and a
// fifth of the time went into looking for what is still used.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

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
	p := must(policy.Load(writePolicy(t, datasets)))
	return p.Datasets[p.Names()[0]]
}

func clinic(budget string) string { return hospital.Dataset("hospital", "data", budget) }

// bySubstitution makes neighbours replace a person.
func bySubstitution(dataset string) string {
	return strings.Replace(dataset, "    budget:", "    neighbours: substitute\n    budget:", 1)
}

// read returns how often each row is in a table, and whose it is.
func read(t *testing.T, table *policy.Table) (rows map[string]int, header []string) {
	t.Helper()
	f := must(os.Open(table.Source))
	defer f.Close()
	all := must(csv.NewReader(f).ReadAll())
	rows = map[string]int{}
	for _, r := range all[1:] {
		rows[strings.Join(r, "\x00")]++
	}
	return rows, all[0]
}

// The two of a pair differ in the rows of one person, and a person has one row where the policy
// says so: an alarm is about the system and not about the pair.
func TestPairsAreNeighbours(t *testing.T) {
	for name, dataset := range map[string]string{
		"hospital": clinic(pure), "substitute": bySubstitution(clinic(pure)), "shop": shop("substitute", pure), "rows": rowsAndDates,
		"rows, add-remove": strings.Replace(rowsAndDates, "neighbours: substitute", "neighbours: add-remove", 1),
	} {
		ds := onlyDataset(t, dataset)
		apart := 0
		for number := range 14 {
			pair, made, err := writePair(ds, t.TempDir(), 7, number)
			if err != nil {
				t.Fatal(err)
			}
			removed, added := 0, 0
			for n, table := range made[0].Tables {
				a, header := read(t, table)
				b, _ := read(t, made[1].Tables[n])
				unit := slices.Index(header, table.UnitColumn)
				people := map[string]int{}
				for row, k := range a {
					if unit >= 0 {
						people[strings.Split(row, "\x00")[unit]] += k
					}
					if k > b[row] {
						removed += k - b[row]
						if unit >= 0 && strings.Split(row, "\x00")[unit] != "1001" {
							t.Errorf("%s, %s: the row of somebody else is gone", name, pair)
						}
					}
				}
				for row, k := range b {
					if k > a[row] {
						added += k - a[row]
						if unit >= 0 && strings.Split(row, "\x00")[unit] != "1002" {
							t.Errorf("%s, %s: a row of somebody else has come", name, pair)
						}
					}
				}
				for who, k := range people {
					if table.UnitKind == policy.Unique && k > 1 && who != nullValue {
						t.Errorf("%s, %s: %s has %d rows", name, pair, who, k)
					}
				}
			}
			if strings.HasPrefix(name, "rows") && (removed > 1 || added > 1) {
				t.Errorf("%s, %s: %d rows went and %d came", name, pair, removed, added)
			}
			if strings.HasSuffix(name, "add-remove") && added > 0 || name == "hospital" && added > 0 {
				t.Errorf("%s, %s: %d rows came", name, pair, added)
			}
			if removed+added > 0 {
				apart++
			}
		}
		want := 11
		if name == "rows" {
			want = 6 // every second pair replaces a row of a table without columns
		}
		if apart < want {
			t.Errorf("%s: only %d of 14 pairs differ", name, apart)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
