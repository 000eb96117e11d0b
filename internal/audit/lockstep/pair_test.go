package lockstep

import (
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/policy"
)

// read returns how often each row is in a table, and whose it is.
func read(t *testing.T, table *policy.Table) (rows map[string]int, header []string) {
	t.Helper()
	f, err := os.Open(table.Source)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
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
