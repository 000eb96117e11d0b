package fiction

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/policy"
)

// Write writes people's rows, and those of public tables, as CSV files, in an order that does not
// tell whose they are, and returns the dataset with these files as its only source. The types are
// the policy's whatever a file is made of, so nothing depends on the kind of the real one.
func (s Schema) Write(
	ds *policy.Dataset, folder string, d detrand.Dice, people []Person, public func(table int) [][]string,
) (*policy.Dataset, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	made := *ds
	made.Engine, made.Source, made.VersionQuery, made.Refresh = "duckdb", "", "", 0 // whatever runs the questions on the data
	made.Tables = map[string]*policy.Table{}
	for i, t := range s {
		table := *t.Table
		table.Source, table.Delimiter = filepath.Join(folder, fmt.Sprintf("%d.csv", i)), ','
		table.CSV = policy.CSVFile{} // what is written here is spelt as SQL does
		table.Relation, table.Trusted, table.Prepared = "", false, ""
		made.Tables[table.Name] = &table
		rows := [][]string{t.Header}
		for _, p := range people {
			rows = append(rows, p[i]...)
		}
		if t.Public {
			rows = append(rows, public(i)...)
		}
		for j := len(rows) - 1; j > 1; j-- {
			k := 1 + d.Below(j)
			rows[j], rows[k] = rows[k], rows[j]
		}
		if err := writeCSV(table.Source, rows); err != nil {
			return nil, err
		}
	}
	return &made, nil
}

func writeCSV(path string, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = csv.NewWriter(f).WriteAll(rows)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
