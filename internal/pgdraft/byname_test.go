package pgdraft

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgtables"
	"github.com/discreet-dp/discreet/policy"
)

// TestUnitByName: where rows cannot be told apart there is no draft that protects rows, which could
// not be used: the unit is guessed by names, or asked for.
func TestUnitByName(t *testing.T) {
	from := &Store{Address: "trino://a@h/c/s", Where: "trino://h", Dataset: "s", Home: "c.s", Unreferenced: true,
		Spelt: func(string, string) string { return "" }, Rights: func(func(string, ...any), *policy.Dataset) {}}
	draft := func(table, unit string) (string, error) {
		l := &pgtables.Listed{Schema: "c.s", Name: table, Columns: []pgtables.ListedColumn{
			{Column: pgtables.Column{Name: "age", Type: "integer", Kind: pgtables.Int32}},
			{Column: pgtables.Column{Name: "pid", Type: "bigint", Kind: pgtables.Int64}}}}
		d, err := From(t.Context(), &pgtables.Catalogue{Role: "a", Tables: []*pgtables.Listed{l}}, from,
			Options{DraftOptions: policy.DraftOptions{Unit: unit}})
		if err != nil {
			return "", err
		}
		return d.Text, nil
	}
	if text, err := draft("patients", ""); err != nil || !strings.Contains(text, "\n    unit: patients.pid\n") ||
		!strings.Contains(text, "GUESSED by the names") {
		t.Error(err, text)
	}
	var option *OptionError
	for table, unit := range map[string]string{"t": "", "patients": "row"} {
		if text, err := draft(table, unit); !errors.As(err, &option) || !strings.Contains(err.Error(), "--unit TABLE.COLUMN") {
			t.Error(err, text)
		}
	}
}
