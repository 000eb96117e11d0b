package catalog

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/server/catalog/interpret"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// FuzzQuery: no text makes the catalogue panic, take more than its limits, or fail without a code.
// What can be described has the columns that were described.
func FuzzQuery(f *testing.F) {
	base := testCatalog(f)
	for _, q := range clients(f) {
		f.Add(fill(q.sql, ourOID(f, base)))
	}
	text, err := os.ReadFile("testdata/expressions.sql")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		f.Add(line)
		f.Add("SELECT " + line)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		c := testCatalog(t)
		mine := about(c, sql)
		check := func(err error) *interpret.Error {
			var e *interpret.Error
			if !errors.As(err, &e) || len(e.Code) != 5 {
				t.Fatalf("an error without a code: %v", err)
			}
			if e.Code == "XX000" {
				t.Fatalf("an internal error: %s", e.Message)
			}
			return e
		}
		params, cols, err := c.Describe(sql, nil)
		if err != nil {
			check(err)
			return
		}
		res, err := c.Query(context.Background(), sql, nil, arguments(params))
		if err != nil {
			check(err)
			return
		}
		if !mine {
			t.Fatalf("answered, and was said not to be about the catalogue")
		}
		if len(res.Columns) != len(cols) {
			t.Fatalf("described %v, got %v", cols, res.Columns)
		}
		for i := range cols {
			if cols[i] != res.Columns[i] {
				t.Fatalf("described %v, got %v", cols[i], res.Columns[i])
			}
		}
		for _, row := range res.Rows {
			for i, v := range row {
				if !fits(v, cols[i].OID) {
					t.Fatalf("%T in a column of type %d", v, cols[i].OID)
				}
			}
		}
	})
}

// fits reports whether a value is of the kind that the column's type promises.
func fits(v any, t uint32) bool {
	if v == nil {
		return true
	}
	switch kind := oid.KindOf(t); {
	case kind == oid.KindInt && !oid.IsReg(t):
		_, ok := v.(int64)
		return ok
	case kind == oid.KindFloat:
		_, ok := v.(float64)
		return ok
	case kind == oid.KindBool:
		_, ok := v.(bool)
		return ok
	case kind == oid.KindList && !oid.IsVector(t):
		list, ok := v.([]any)
		for _, x := range list {
			if _, nested := x.([]any); nested {
				ok = ok && fits(x, t)
			} else {
				ok = ok && fits(x, oid.Elem(t))
			}
		}
		return ok
	}
	_, ok := v.(string)
	return ok
}
