package policy

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp/account"
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
	if b.KeysDelta > 0 && b.KeysDelta >= b.Delta || b.DefaultDelta > b.KeysDelta || (b.DefaultDelta == 0) != (b.KeysDelta == 0) {
		t.Errorf("budget %+v", b)
	}
	// Whatever is set aside for keys, the promise is within what was written.
	if l := d.Filter().Limit(); !b.Pure() {
		if e, err := account.Epsilon(l.Rho, b.RhoDelta()); err != nil || e > b.Epsilon || l.Delta.Add(b.RhoDelta()) > b.Delta {
			t.Errorf("budget %+v has the filter %v", b, l)
		}
	}
	checkSizes(t, d)
	if len(d.ViewNames()) != len(d.Views) {
		t.Errorf("views %v", d.Views)
	}
	for name, text := range d.Views {
		if strings.TrimSpace(text) == "" || len(text) > maxView || d.Tables[name] != nil {
			t.Errorf("view %s: %q", name, text)
		}
	}
	if !slices.ContainsFunc(d.TableNames(), func(name string) bool { return !d.Tables[name].Public }) {
		t.Error("there is nobody to protect")
	}
	if len(d.Analysts) == 0 || len(d.Tables) == 0 || len(d.order) != len(d.Tables) {
		t.Errorf("analysts %v, tables %v", d.Analysts, d.order)
	}
	for name := range d.Analysts {
		if q, ok := d.Quota(name); !ok || !q.Limit().Within(d.Filter().Limit()) {
			t.Errorf("the quota of %s", name)
		}
		if len(d.GroupsOf(name)) > maxGroupsOf {
			t.Errorf("the groups of %s", name)
		}
	}
	for _, name := range d.GroupNames() {
		if q, ok := d.GroupQuota(name); !ok || !q.Limit().Within(d.Filter().Limit()) || len(d.Groups[name].Analysts) == 0 {
			t.Errorf("the quota of the group %s", name)
		}
	}
	if total := d.TotalFilter().Limit(); !d.Filter().Limit().Within(total) || total.Delta.Add(b.RhoDelta()).Rat().Cmp(maxDelta) > 0 ||
		b.Renews() != (b.Renewal.Every != "") || !b.Renews() && total != d.Filter().Limit() {
		t.Errorf("budget %+v has all together %v", b, total)
	}
	for _, name := range d.StreamNames() {
		checkStream(t, d, d.Streams[name])
	}
	for _, name := range d.HoldoutNames() {
		h := d.Holdouts[name]
		private := d.Tables[h.Table]
		if (h.Labels == "") == (h.Table == "") || (h.Labels == "") != (h.Column == "") || h.Size < 0 ||
			h.Table != "" && (h.Size == 0 || private == nil || private.Public || private.MaxRows != 1) ||
			h.Train != "" && !d.Tables[h.Train].Public || h.Threshold.Sign() < 0 || h.Noise.Sign() <= 0 || h.Answers < 1 || h.Steps < 1 {
			t.Errorf("holdout %+v", h)
		}
	}
	for _, name := range d.TableNames() {
		table := d.Tables[name]
		checkTable(t, d, table)
		for _, name := range table.ColumnNames() {
			c := table.Columns[name]
			if c.Type == NoType || (c.Keys == PublicKeys) != (len(c.KeyValues) > 0) {
				t.Errorf("column %+v", c)
			}
			if b := c.Bounds; b != nil &&
				(b.LoSteps >= b.HiSteps || c.Granularity.Sign() <= 0 || b.LoSteps < -maxSteps || b.HiSteps > maxSteps) {
				t.Errorf("bounds %+v", b)
			}
		}
	}
}

// checkTable checks what a table promises about whose its rows are.
func checkTable(t *testing.T, d *Dataset, table *Table) {
	if table.MaxRows < 1 || table.MaxGroups < 1 || table.Public != (table.UnitKind == NoUnit) || !table.Public && table.UniqueColumn != "" {
		t.Errorf("table %+v", table)
	}
	if table.UnitKind != Many && table.MaxGroups != 1 || (table.UnitKind == Row || table.UnitKind == Unique) && table.MaxRows != 1 {
		t.Errorf("table %+v", table)
	}
	if table.Public || d.Unit.Row() {
		if len(table.Path) > 0 || table.UnitColumn != "" || !table.Public && table.UnitKind != Row {
			t.Errorf("table %+v", table)
		}
		return
	}
	// The way is whole: it begins here, goes on where it arrived, and ends at the unit.
	at := Unit{table.Name, table.UnitColumn}
	if len(table.Path) > 1 {
		if at.Column = table.Path[0].Column; table.UnitColumn != "" || table.UnitKind != Many {
			t.Errorf("table %+v", table)
		}
	}
	for i, s := range table.Path {
		next := d.Tables[s.Table]
		if s.Column != at.Column && i == 0 || next == nil || next.Public || !slices.Equal(next.Path, table.Path[i+1:]) ||
			!slices.Contains(d.PathColumns(next), s.Key) {
			t.Errorf("step %d of %+v", i, table)
		}
		at = Unit{s.Table, s.Key}
	}
	if at != d.Unit || table.UnitKind != Unique && table.UnitKind != Many {
		t.Errorf("%s leads to %v and not to %v", table.Name, at, d.Unit)
	}
}

// checkStream checks that a stream's bins hold every value of a column once, and that its numbers
// are what other packages rely on.
func checkStream(t *testing.T, d *Dataset, s *Stream) {
	table := d.Tables[s.Table]
	if table == nil || table.Public || table.UnitKind == Many || len(s.Columns) == 0 || s.Cells() > MaxStreamCells || s.Cells() < 2 {
		t.Fatalf("stream %+v", s)
	}
	if !(s.Alpha > 0 && s.Alpha < 1 && s.Beta > 0 && s.Beta < 1) || s.Size < 1 || s.Queries < 1 || s.Budget > d.Budget.Epsilon {
		t.Errorf("stream %+v", s)
	}
	if q, ok := d.StreamQuota(s.Name); !ok || !q.Limit().Within(d.Filter().Limit()) {
		t.Errorf("the quota of the stream %s", s.Name)
	}
	for _, b := range s.Columns {
		c := table.Columns[b.Name]
		seen := map[string]bool{}
		for _, label := range b.Labels() {
			if seen[label] {
				t.Errorf("the label %q of %s is there twice", label, c.Name)
			}
			seen[label] = true
		}
		if b.Null != c.Nullable || len(b.Bins) == 0 || b.Cells() != len(b.Labels()) {
			t.Errorf("column %+v of %+v", b, c)
		}
		for i, bin := range b.Bins {
			switch {
			case bin.Range && (c.Bounds == nil || bin.Lo > bin.Hi || bin.Lo < c.Bounds.LoSteps || bin.Hi > c.Bounds.HiSteps ||
				i > 0 && bin.Lo != b.Bins[i-1].Hi+1 || i == 0 && bin.Lo != c.Bounds.LoSteps ||
				i == len(b.Bins)-1 && bin.Hi != c.Bounds.HiSteps):
				t.Errorf("range %d of %+v", i, b)
			case bin.Other && i != len(b.Bins)-1:
				t.Errorf("bin %d of %+v", i, b)
			case !bin.Range && !bin.Other && (bin.Value.Null || bin.Value.Type != c.Type || b.Cell(bin.Value) != i):
				t.Errorf("bin %d of %+v", i, b)
			}
		}
	}
}

// checkSizes: sizes that are declared say all that would be counted of private tables.
func checkSizes(t *testing.T, d *Dataset) {
	if d.Sizes == nil {
		return
	}
	if d.Sizes.People < 1 || len(d.Sizes.Tables) != len(d.privateTables()) {
		t.Errorf("sizes %+v", d.Sizes)
	}
	for _, name := range d.privateTables() {
		size, ok := d.Sizes.Tables[name]
		if !ok || size.Rows < 1 || size.Rows > MostDeclared {
			t.Errorf("table %s: sizes %+v", name, size)
		}
		for column, c := range d.Tables[name].Columns {
			if c.Type == Text && size.Lengths[column] < 1 || c.Keys == PrivateKeys && size.Values[column] < 1 {
				t.Errorf("column %s.%s: sizes %+v", name, column, size)
			}
		}
	}
}
