package fakedata

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/policy"
)

const townPolicy = `
datasets:
  clinic:
    engine: duckdb
    source: nowhere
    unit: people.id
    budget: {epsilon: 1}
    analysts: {ana: {share: 1}}
    tables:
      people:
        unique: id
        columns:
          age:  {type: integer, bounds: [18, 99], nullable: false}
          sex:  {type: text, keys: [F, M], nullable: false}
          town: {type: text, keys: private}
          born: {type: date, bounds: [1920-01-01, 2006-12-31]}
          here: {type: boolean}
      stays:
        path: person -> people.id
        max_rows: 3
        max_groups: 2
        columns:
          cost: {type: decimal, bounds: [0, 500], granularity: 0.05, nullable: false}
          code: {type: text}
      drugs:
        path: stay -> stays.number
        max_rows: 9
        max_groups: 2
        columns:
          code: {type: text, nullable: false}
          at:   {type: timestamp}
      codes:
        public: true
        unique: code
        columns:
          code:  {type: text}
          group: {type: text, keys: [a, b]}
`

// makeTown makes a town, and returns the rows of each table, with their header.
func makeTown(t *testing.T) (ds *policy.Dataset, tables map[string][][]string, files [][]byte) {
	t.Helper()
	p, err := policy.Parse(filepath.Join(t.TempDir(), "p.yaml"), []byte(townPolicy))
	if err != nil {
		t.Fatal(err)
	}
	if ds, err = MakeTown(p.Datasets["clinic"], t.TempDir()); err != nil {
		t.Fatal(err)
	}
	tables = map[string][][]string{}
	for _, name := range ds.TableNames() {
		b, err := os.ReadFile(ds.Tables[name].Source)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		tables[name], files = rows, append(files, b)
	}
	return ds, tables, files
}

func columnValues(t *testing.T, rows [][]string, name string) (out []string) {
	t.Helper()
	at := slices.Index(rows[0], name)
	if at < 0 {
		t.Fatalf("there is no %s in %v", name, rows[0])
	}
	for _, r := range rows[1:] {
		out = append(out, r[at])
	}
	return out
}

// The same policy makes the same town, to the byte; values are within their bounds, people are
// different ones, paths lead to rows that are there, and codes to those of the public table.
func TestTown(t *testing.T) {
	ds, tables, files := makeTown(t)
	if _, _, again := makeTown(t); !slices.EqualFunc(files, again, bytes.Equal) {
		t.Error("another town was made of the same policy")
	}
	if ds.Source != "" || len(tables["people"]) != 1+townPersonCount {
		t.Errorf("%q, %d people", ds.Source, len(tables["people"])-1)
	}
	ids := columnValues(t, tables["people"], "id")
	if slices.Sort(ids); len(slices.Compact(ids)) != townPersonCount {
		t.Error("people are one another")
	}
	ages := map[string]bool{}
	for _, age := range columnValues(t, tables["people"], "age") {
		if n, err := strconv.Atoi(age); err != nil || n < 18 || n > 99 {
			t.Fatalf("somebody is %q", age)
		}
		ages[age] = true
	}
	if len(ages) < 50 {
		t.Errorf("only %d ages", len(ages))
	}
	nulls := 0
	for _, born := range columnValues(t, tables["people"], "born") {
		if born == Null {
			nulls++
		} else if born < "1920-01-01" || born > "2006-12-31" {
			t.Fatal(born)
		}
	}
	if nulls == 0 || nulls > townPersonCount/5 {
		t.Errorf("%d are missing", nulls)
	}
	numbers := columnValues(t, tables["stays"], "number")
	for _, stay := range columnValues(t, tables["drugs"], "stay") {
		if !slices.Contains(numbers, stay) {
			t.Fatalf("a drug was given in %q", stay)
		}
	}
	codes := columnValues(t, tables["codes"], "code")
	if slices.Sort(codes); len(slices.Compact(slices.Clone(codes))) != len(codes) || slices.Contains(codes, Null) || len(codes) < 5 {
		t.Error(codes)
	}
	if !slices.ContainsFunc(columnValues(t, tables["drugs"], "code"), func(c string) bool { return slices.Contains(codes, c) }) {
		t.Error("no code is known")
	}
	for _, sex := range columnValues(t, tables["people"], "sex") {
		if sex != "F" && sex != "M" {
			t.Fatal(sex)
		}
	}
}
