package duckdb

import (
	"reflect"
	"slices"
	"testing"
)

// TestDialectIsWhole: what a dialect says nothing about would be printed as nothing, or not at all.
// DuckDB's transactions need no options and see one state, its constants are parameters, its sums
// have 128 bits, what is written twice is computed once, and its groups have no places.
func TestDialectIsWhole(t *testing.T) {
	for _, v := range []reflect.Value{reflect.ValueOf(*sqlDialect), reflect.ValueOf(sqlDialect.Types)} {
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			none := []string{"Snapshot", "Unpinned", "Constant", "SmallSum", "Let", "Place", "ByPerson"}
			if v.Field(i).IsZero() && !slices.Contains(none, name) {
				t.Errorf("%s is missing", name)
			}
		}
	}
}
