package duckdb

import (
	"reflect"
	"testing"
)

// TestDialectIsWhole: what a dialect says nothing about would be printed as nothing, or not at all.
// DuckDB's transactions need no options, its constants are parameters, and its sums have 128 bits.
func TestDialectIsWhole(t *testing.T) {
	for _, v := range []reflect.Value{reflect.ValueOf(*sqlDialect), reflect.ValueOf(sqlDialect.Types)} {
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "Snapshot" && name != "Constant" && name != "SmallSum" {
				t.Errorf("%s is missing", name)
			}
		}
	}
}
