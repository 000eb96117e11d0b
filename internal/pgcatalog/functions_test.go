package pgcatalog

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
)

// TestEveryCall calls every function of the catalogue with values of every kind: what does not fit
// is refused with a code, and what is answered is of the type that was described.
func TestEveryCall(t *testing.T) {
	values := strings.Fields("NULL 'a' 1 '{a}'::text[] true 1.5 'a'::name 'pg_class'::regclass now() ROW(1,'a')" +
		" 'a'::\"char\" 1::int2 1::int8 1::float8 26::oid '2024-05-06'::date ARRAY[1,NULL] '1'::int2vector '{}' '0'::xid")
	some, few := values[:10], values[:4]
	var calls []string
	onValues := interpret.NewLibrary(nil)
	for name := range library {
		if onValues[name] != nil {
			continue // package interpret has them
		}
		if strings.HasPrefix(name, "_pg_") {
			name = "information_schema." + name
		}
		calls = append(calls, name+"()")
		for _, x := range values {
			calls = append(calls, name+"("+x+")")
		}
		for _, x := range some {
			for _, y := range some {
				calls = append(calls, name+"("+x+","+y+")")
			}
		}
		for _, x := range few {
			for _, y := range few {
				for _, z := range few {
					calls = append(calls, name+"("+x+","+y+","+z+")")
				}
			}
		}
	}
	c := testCatalog(t)
	for _, call := range calls {
		sql := "SELECT " + call
		res, err := c.Query(context.Background(), sql, nil, nil)
		var e *interpret.Error
		switch {
		case err == nil:
			for i, v := range res.Rows {
				if !fits(v[0], res.Columns[0].OID) {
					t.Errorf("%s: %T in a column of type %d, row %d", sql, v[0], res.Columns[0].OID, i)
				}
			}
		case !errors.As(err, &e) || e.Code == "XX000":
			t.Errorf("%s: %v", sql, err)
		}
	}
	t.Logf("%d calls", len(calls))
}
