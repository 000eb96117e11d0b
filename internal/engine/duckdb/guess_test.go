package duckdb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/policy"
)

// TestGuess drafts from columns as files have them.
func TestGuess(t *testing.T) {
	for _, c := range []struct{ values, want string }{
		{"13.12.2020 3.4.1999", "date DD.MM.YYYY"},
		{"13.12.2020 NA - 3.4.1999", "date DD.MM.YYYY nulls [NA -]"},
		{"12/13/2020 01/02/2020", "date MM/DD/YYYY"},
		{"03/04/2020 01/02/2020", "date DD/MM/YYYY also [date MM/DD/YYYY]"},
		{"03.04.2020_10:30 13.04.2020_09:15", "timestamp DD.MM.YYYY HH24:MI"},
		{"2020-12-13 2021-01-01", "date"},
		{"2020-12-13_10:00:00 2021-01-01_00:00:00", "timestamp"},
		{"20201213 20210101", "date YYYYMMDD also [integer]"},
		{"20201313 20210101", "integer"},
		{"13-Dec-20 01-Jan-21", "date DD-Mon-YY"},
		{"1 2 3", "integer"},
		{"01003 99501", "text"},
		{"1.5 2", "decimal"},
		{"1,5 2,25 3", "decimal 1234,56"},
		{"1.234,56 17,5", "decimal 1.234,56"},
		{"1,234.56 17.5", "decimal 1,234.56"},
		{"1,234 12,500 7", "decimal 1234,56 also [integer 1,234]"},
		{"1.234 12.500 7", "decimal also [integer 1.234]"},
		{"0.125 0.500", "decimal"},
		{"1.234.567 7", "integer 1.234"},
		{"ja nein ja", "boolean ja/nein"},
		{"yes no yes", "boolean"},
		{"T T", "text"},
		{"F M X", "text"},
		{"flu none asthma", "text maybe [none]"},
		{"34 51 9999 28 9999", "integer maybe [9999]"},
		{"34 51 -1 28 -1", "integer maybe [-1]"},
		{"34 51 70 28 99 99", "integer"},
		{"1 2 3 4 5 6 7 8 9 10 11 typo", "integer unfit"},
		{"NA NA", "text maybe [NA]"},
		{"NaN 1.5", "decimal nulls [NaN]"},
	} {
		folder := t.TempDir()
		lines := strings.ReplaceAll(strings.Join(strings.Fields(c.values), "\"\n1;\""), "_", " ")
		path := write(t, folder, "t.csv", "p;v\n1;\""+lines+"\"\n1;\n")
		schemas, err := Schemas(t.Context(), []string{path}, Look{})
		if err != nil {
			t.Fatal(err)
		}
		col := schemas[0].Columns[1]
		got := strings.TrimSpace(fmt.Sprintf("%v %s", col.Type, col.Format))
		if len(col.OtherFormats) > 0 {
			got += fmt.Sprintf(" also %v", col.OtherFormats)
		}
		if len(col.Nulls) > 0 {
			got += fmt.Sprintf(" nulls %v", col.Nulls)
		}
		if len(col.MaybeNulls) > 0 {
			got += fmt.Sprintf(" maybe %v", col.MaybeNulls)
		}
		if col.Unfit {
			got += " unfit"
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.values, got, c.want)
		}
	}
}

// A column that reads in two ways is read like its neighbours, which the same program wrote.
func TestGuessByNeighbours(t *testing.T) {
	path := write(t, t.TempDir(), "t.csv", "a,b\n03/04/2020,12/31/2020\n")
	schemas, err := Schemas(t.Context(), []string{path}, Look{})
	if err != nil {
		t.Fatal(err)
	}
	if c := schemas[0].Columns[0]; c.Format != "MM/DD/YYYY" || fmt.Sprint(c.OtherFormats) != "[date DD/MM/YYYY]" {
		t.Errorf("%+v", c)
	}
}

// TestDraftsAreRead drafts a policy from a file of another country, with a bad line, and opens it:
// every value is read, and the check finds nothing that is not.
func TestDraftsAreRead(t *testing.T) {
	folder := t.TempDir()
	patients := write(t, folder, "patients.csv",
		"pid;born;weight;smoker\n1;13.12.1970;71,5;ja\n2;NA;80,25;nein\n3;1.2.1980\n4;24.6.2001;NA;ja\n")
	labs := write(t, folder, "labs.csv", "patient_id,taken\n1,12/31/2020\n1,01/02/2021\n2,02/03/2021\n")
	people := map[string]string{"labs": "patient_id"}
	schemas, err := Schemas(t.Context(), []string{patients, labs}, Look{Unit: "patients.pid", People: people})
	if err != nil {
		t.Fatal(err)
	}
	text, err := policy.Draft(schemas, policy.DraftOptions{Dataset: "d", Unit: "patients.pid", People: people})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"line 4 has 2 values, and the header has", "format: DD.MM.YYYY", "format: MM/DD/YYYY",
		`format: "1234,56"`,
		"format: ja/nein", "nulls: [NA]", "path: patient_id -> patients.pid"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	p, err := policy.Parse(filepath.Join(folder, "p.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	found, err := check(t, p.Datasets["d"])
	if err != nil || len(found) != 1 || found[0].Unread || found[0].Broken {
		t.Errorf("%+v, %v", found, err)
	}
	e := open(t, p.Datasets["d"])
	for question, want := range map[string]string{
		"SELECT COUNT(born) FROM patients WHERE born = '1970-12-13'": "[[1]]",
		"SELECT COUNT(weight) FROM patients":                         "[[2]]",
		"SELECT COUNT(*) FROM patients WHERE smoker":                 "[[2]]",
		"SELECT COUNT(*) FROM labs WHERE taken >= '2021-01-01'":      "[[2]]",
	} {
		if got := fmt.Sprint(ask(t, e, question)); got != want {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}
}

// A column that is all spelt otherwise is not read at all, and the check says what it looks like.
func TestCheckSaysWhatColumnsLookLike(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "t.csv", "born,x\n13.12.2020,1\n14.12.2020,2\n")
	found, err := check(t, dataset(t, folder, "source: t.csv\nunit: row\ntables: {t: {columns: {born: {type: date}, x: {type: integer}}}}"))
	if err != nil || len(found) != 1 || !found[0].Unread ||
		found[0].Text != `all of the values are not date; they count as NULL; they look like type: date, format: "DD.MM.YYYY"` {
		t.Errorf("%+v, %v", found, err)
	}
}
