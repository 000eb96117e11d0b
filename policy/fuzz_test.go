package policy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse checks that no text makes the reader panic, that an error always
// holds problems with positions, in order and each on one line, and that what is
// accepted keeps the promises that other packages rely on.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range strings.Split(string(text), "====\n")[1:] {
			in, _, _ := strings.Cut(c, "----\n")
			f.Add([]byte(in))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse("p.yaml", text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || len(e.Problems) == 0 {
				t.Fatalf("not an error about the policy: %v", err)
			}
			for i, q := range e.Problems {
				if q.Line < 1 || q.Column < 1 || q.Text == "" || strings.ContainsAny(q.Where+q.Text, "\n\r\x00\x1b") {
					t.Errorf("problem %+v", q)
				}
				if i > 0 && q.Line < e.Problems[i-1].Line {
					t.Error("problems out of order")
				}
			}
			return
		}
		for _, name := range p.Names() {
			checkDataset(t, p.Datasets[name])
		}
	})
}

func checkDataset(t *testing.T, d *Dataset) {
	b := d.Budget
	if b.Epsilon == 0 || b.Epsilon > maxEpsilon || b.DefaultEpsilon == 0 || b.DefaultEpsilon > b.MaxEpsilon || b.MaxEpsilon > b.Epsilon {
		t.Errorf("budget %+v", b)
	}
	if len(d.Analysts) == 0 || len(d.Tables) == 0 || len(d.order) != len(d.Tables) {
		t.Errorf("analysts %v, tables %v", d.Analysts, d.order)
	}
	for name := range d.Analysts {
		if q, ok := d.Quota(name); !ok || !q.Limit().Within(d.Filter().Limit()) {
			t.Errorf("the quota of %s", name)
		}
	}
	for _, name := range d.TableNames() {
		table := d.Tables[name]
		if d.Unit.Row() != (table.UnitKind == Row) || (table.UnitColumn == "") != (table.UnitKind == Row) || table.MaxRows < 1 || table.MaxGroups < 1 {
			t.Errorf("table %+v", table)
		}
		if table.UnitKind != Many && (table.MaxRows != 1 || table.MaxGroups != 1) {
			t.Errorf("table %+v", table)
		}
		for _, name := range table.ColumnNames() {
			c := table.Columns[name]
			if c.Type == NoType || (c.Keys == PublicKeys) != (len(c.KeyValues) > 0) {
				t.Errorf("column %+v", c)
			}
			if b := c.Bounds; b != nil && (b.LoSteps >= b.HiSteps || c.Granularity.Sign() <= 0 || b.LoSteps < -maxSteps || b.HiSteps > maxSteps) {
				t.Errorf("bounds %+v", b)
			}
		}
	}
}
