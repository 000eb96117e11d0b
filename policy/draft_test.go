package policy

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
)

func yes() *bool { b := true; return &b }
func no() *bool  { return new(bool) }

var (
	patients = Schema{Table: "patients", Source: "patients.csv", Columns: []SchemaColumn{
		{Name: "pid", Type: Integer, Unique: yes(), MinText: "1", MaxText: "5000"},
		{Name: "age", Type: Integer, Nullable: true, MinText: "18", MaxText: "97"},
		{Name: "sex", Type: Text, Nullable: true, MinText: "F", MaxText: "X"},
		{Name: "zip code", Type: Text, Nullable: true},
		{Name: "yes", Type: Boolean, Nullable: true},
		{Name: "smoker", Type: Boolean},
		{Name: "cost", Type: Decimal, Decimals: 2, Nullable: true, MinText: "-0.005", MaxText: "49999.991"},
		{Name: "born", Type: Date, Nullable: true, MinText: "1921-03-04", MaxText: "2006-07-08"},
		{Name: "photo", EngineType: "BLOB", Nullable: true},
		{Name: "Age", Type: Integer, Nullable: true},
		{Name: "new\nline: x", Type: Text},
	}}
	visits = Schema{Table: "visits", Source: "visits: all.csv", Delimiter: ';', MaxRows: 50, LimitsFromData: true,
		Columns: []SchemaColumn{
			{Name: "pid", Type: Integer, Unique: no()},
			{Name: "day", Type: Date},
		}}
	labs = Schema{Table: "labs", Source: "labs.csv", Delimiter: ';', Unquoted: true, Columns: []SchemaColumn{
		{Name: "patient_id", Type: Text, Nullable: true, Unique: no()},
		{Name: "taken", Type: Date, Nullable: true, Format: "DD/MM/YYYY", OtherFormats: []string{"date MM/DD/YYYY"}},
		{Name: "seen", Type: Timestamp, Nullable: true, Format: "DD.MM.YY HH24:MI", Nulls: []string{"NA", "-", "n/a"}},
		{Name: "value", Type: Decimal, Decimals: 2, Nullable: true, Format: "1.234,56", Nulls: []string{"NA"}, MaybeNulls: []string{"9999"},
			Unfit: true},
		{Name: "unit", Type: Text, Nullable: true, MaybeNulls: []string{"none"}},
	}, Notes: []string{"LINES THAT ARE NOT ROWS: line 7 has 2 values, but the header has 5. They are left out of every answer, " +
		"each by itself."}}
	wards = Schema{Table: "wards", Source: "wards.parquet", Columns: []SchemaColumn{{Name: "ward", Type: Text}}}
)

func in(s Schema, source string) Schema {
	s.Source, s.Delimiter = source, 0
	return s
}

// TestDraftGolden compares drafts with testdata/draft/*.yaml, which are there to
// be read. Regenerate them with -rewrite.
func TestDraftGolden(t *testing.T) {
	for name, c := range map[string]struct {
		schemas []Schema
		opt     DraftOptions
	}{
		"one":      {[]Schema{patients}, DraftOptions{}},
		"trusted":  {[]Schema{patients}, DraftOptions{TrustDataBounds: true, Epsilon: "2.5", Delta: "0"}},
		"unit":     {[]Schema{patients, visits, wards}, DraftOptions{Dataset: "hospital", Unit: "patients.pid", Analyst: "ana"}},
		"people":   {[]Schema{patients, labs, visits}, DraftOptions{Unit: "patients.pid", People: map[string]string{"labs": "patient_id"}}},
		"rows":     {[]Schema{patients, visits}, DraftOptions{Unit: "row"}},
		"database": {[]Schema{in(patients, "h.duckdb"), in(visits, "h.duckdb")}, DraftOptions{Unit: "visits.pid"}},
		"bare":     {[]Schema{{Table: "no", Source: "1.csv"}}, DraftOptions{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Draft(c.schemas, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "draft", name+".yaml")
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if _, err := Load(file); err != nil {
				t.Error(err)
			}
			for line := range strings.Lines(got) {
				if len(line) > 112 && !strings.Contains(line, "left out") {
					t.Errorf("a long line: %s", line)
				}
			}
		})
	}
}

// TestDraftUncommented checks that the lines an owner is to complete are right
// when they are uncommented: the bounds are then asked for by name.
func TestDraftUncommented(t *testing.T) {
	text, err := Draft([]Schema{patients}, DraftOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"bounds", "keys", "per_query"} {
		text = strings.ReplaceAll(text, "# "+key+":", key+":")
	}
	_, err = Parse("p.yaml", []byte(text))
	if err == nil {
		t.Fatal("bounds without numbers are taken")
	}
	for line := range strings.Lines(err.Error()) {
		if !strings.Contains(line, "fill in the bounds") {
			t.Errorf("an unexpected problem: %s", line)
		}
	}
	var whole strings.Builder
	bounds := "[0, 1] "
	for line := range strings.Lines(text) {
		if strings.Contains(line, "type: date") {
			bounds = "[2020-01-01, 2020-12-31] "
		}
		whole.WriteString(strings.ReplaceAll(line, "[lowest, highest] ", bounds))
	}
	if got := understood("p.yaml", whole.String()); !strings.Contains(got, `public keys "A" "B" "C"`) {
		t.Errorf("completed: %s", got)
	}
}

func TestDraftRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		schemas []Schema
		opt     DraftOptions
		want    string
	}{
		"nothing":   {nil, DraftOptions{}, "there is no table"},
		"name":      {[]Schema{{Table: "a\nb", Source: "a.csv"}}, DraftOptions{}, "cannot be seen"},
		"twice":     {[]Schema{patients, in(patients, "old/patients.csv")}, DraftOptions{}, "would both be the table 'patients'"},
		"databases": {[]Schema{in(patients, "a.duckdb"), in(visits, "b.duckdb")}, DraftOptions{}, "two databases"},
		"source":    {[]Schema{in(patients, "")}, DraftOptions{}, "nothing says where"},
		"same":      {[]Schema{patients, in(visits, "patients.csv")}, DraftOptions{}, "same place"},
		"pattern":   {[]Schema{in(patients, "*.csv")}, DraftOptions{}, "patterns of several files"},
		"unit":      {[]Schema{patients}, DraftOptions{Unit: "patients.id"}, "is not a column of these tables"},
		"arrow": {[]Schema{{Table: "a", Source: "a.csv", Columns: []SchemaColumn{{Name: "x->y"}}}},
			DraftOptions{Unit: "a.x->y"}, "arrow"},
		"epsilon": {[]Schema{patients}, DraftOptions{Epsilon: "1} # x"}, "not an amount"},
		"large":   {[]Schema{patients}, DraftOptions{Epsilon: "1000"}, "above 100"},
		"analyst": {[]Schema{patients}, DraftOptions{Analyst: "a b"}, "is not a name"},
		"dataset": {[]Schema{patients}, DraftOptions{Dataset: "a: b"}, "is not a name"},
	} {
		text, err := Draft(c.schemas, c.opt)
		if err == nil || text != "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// anyName draws names that try to be something other than a name.
func anyName() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"yes", "No", "null", "~", "", "1", "0x1", "1e3", ".inf", "<<", "*a", "&a", "!x", "- a", "a: b", "a #b", "#a", "{a", "[a]",
			"a,b", "? a",
			"a'b", `a"b`, "a\nb", "a\\b", "%a", "@a", "`a", "---", "...", "a ", " a", "é", "日本", "a\u2028b", "\x00", "\xff", "2020-01-01",
			"a->b", "a.b",
			"row", "columns", "|", ">", "true", "=", "\u202eabc", strings.Repeat("x", 64), "\ufeff", "a\u0085b",
		}),
		rapid.StringMatching(`[a-zA-Z_][a-zA-Z0-9_ .-]{0,10}`),
		rapid.String(),
	)
}

// TestDraftsLoad checks that whatever the columns are called every draft can be loaded,
// lists each column that can be listed, and holds no value of the data unless asked.
func TestDraftsLoad(t *testing.T) {
	column := rapid.Custom(func(t *rapid.T) SchemaColumn {
		unique := rapid.SampledFrom([]*bool{nil, yes(), no()}).Draw(t, "unique")
		bound := rapid.SampledFrom([]string{"", "x", "inf", "-7654321.9", "7654321", "7654321.12345", "1e300", "2020-01-01"})
		return SchemaColumn{
			Name: anyName().Draw(t, "name"), Type: Type(rapid.IntRange(0, 5).Draw(t, "type")),
			EngineType: rapid.String().Draw(t, "engine type"),
			Nullable:   rapid.Bool().Draw(t, "nullable"), Unique: unique, Decimals: rapid.IntRange(-1, 15).Draw(t, "decimals"),
			MinText: bound.Draw(t, "min"), MaxText: bound.Draw(t, "max"),
		}
	})
	tableName := anyName().Filter(func(s string) bool { return checkName(s) == "" && !strings.Contains(s, ".") })
	fileName := rapid.OneOf(rapid.StringMatching(`[a-z :#'"{},&*!|>%@-]{0,8}`), tableName).Filter(func(s string) bool {
		return !strings.ContainsAny(s, "*?[]")
	})
	rapid.Check(t, func(t *rapid.T) {
		var schemas []Schema
		names := rapid.SliceOfNDistinct(tableName, 1, 3, fold).Draw(t, "tables")
		files := rapid.SliceOfNDistinct(fileName, len(names), len(names), rapid.ID).Draw(t, "files")
		var units []string
		for i, name := range names {
			s := Schema{Table: name, Source: "x/" + strings.ReplaceAll(files[i], "/", "") + string(rune('0'+i)) + ".csv",
				Columns: rapid.SliceOfN(column, 0, 5).Draw(t, "columns")}
			schemas = append(schemas, s)
			for _, c := range s.Columns {
				if checkName(c.Name) == "" && !strings.Contains(c.Name, "->") {
					units = append(units, name+"."+c.Name)
				}
			}
		}
		opt := DraftOptions{
			Unit:            rapid.SampledFrom(append(units, "", "row")).Draw(t, "unit"),
			TrustDataBounds: rapid.Bool().Draw(t, "trust"),
		}
		text, err := Draft(schemas, opt)
		if err != nil {
			t.Fatalf("%v", err)
		}
		p, err := Parse("p.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !opt.TrustDataBounds && strings.Contains(text, "7654321") {
			named := false
			for _, s := range schemas {
				for _, c := range s.Columns {
					named = named || strings.Contains(c.Name+c.EngineType, "7654321")
				}
			}
			if !named {
				t.Fatalf("a value of the data is in the draft:\n%s", text)
			}
		}
		for _, d := range p.Datasets {
			for _, s := range schemas {
				table := d.Tables[s.Table]
				if table == nil {
					if d.Unit.Row() || s.Table == d.Unit.Table {
						t.Fatalf("the table %q is lost:\n%s", s.Table, text)
					}
					continue
				}
				checkDrafted(t, table, s)
			}
		}
	})
}

// A name that is no text reads as one that is, where letter case does not count.
func TestDraftBesideUnwritableName(t *testing.T) {
	columns := []SchemaColumn{{Name: "\xff", Type: Integer}, {Name: "\uFFFD", Type: Integer}}
	text, err := Draft([]Schema{{Table: "t", Source: "t.csv", Columns: columns}}, DraftOptions{Unit: "row"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Datasets {
		if d.Tables["t"].Columns["\uFFFD"] == nil {
			t.Errorf("the column is lost:\n%s", text)
		}
	}
}

func checkDrafted(t *rapid.T, table *Table, s Schema) {
	seen := map[string]bool{}
	for _, c := range s.Columns {
		if checkName(c.Name) != "" || seen[fold(c.Name)] {
			continue
		}
		seen[fold(c.Name)] = true
		got := table.Columns[c.Name]
		if c.Type == NoType || fold(c.Name) == fold(table.UnitColumn) {
			if got != nil {
				t.Fatalf("the column %q should not be listed", c.Name)
			}
			continue
		}
		if got == nil || got.Type != c.Type || got.Nullable != c.Nullable {
			t.Fatalf("the column %+v became %+v", c, got)
		}
		if got.Bounds == nil || c.Type == Date {
			continue
		}
		lo, _ := dp.ParseDecimal(c.MinText)
		hi, _ := dp.ParseDecimal(c.MaxText)
		if got.Bounds.Lo.Cmp(lo) > 0 || got.Bounds.Hi.Cmp(hi) < 0 || !got.BoundsFromData {
			t.Fatalf("the bounds %v of %+v", got.Bounds, c)
		}
		if new(big.Rat).Sub(lo, got.Bounds.Lo).Cmp(got.Granularity) >= 0 {
			t.Fatalf("the bounds %v of %+v are wider than the lattice needs", got.Bounds, c)
		}
	}
}

// A database may have more tables than a policy has room for.
func TestDraftTooLarge(t *testing.T) {
	var many []Schema
	for i := range 2000 {
		s := in(patients, "hospital.duckdb")
		s.Table = fmt.Sprintf("patients%d", i)
		many = append(many, s)
	}
	if _, err := Draft(many, DraftOptions{}); err == nil || !strings.Contains(err.Error(), "with 2000 tables it would be larger") {
		t.Error(err)
	}
}
