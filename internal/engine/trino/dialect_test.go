package trino

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/policy"
)

// TestDialectIsWhole: what a dialect says nothing about would be printed as nothing, or not at all.
// Constants stand in the text, parts of WITH are computed where they are named, no transaction sees
// one state, a suffix is a pattern, and nobody is a row.
func TestDialectIsWhole(t *testing.T) {
	left := []string{"Parameter", "Snapshot", "Once", "Again", "HasSuffix", "Row", "RowHash"}
	for _, v := range []reflect.Value{reflect.ValueOf(*sqlDialect), reflect.ValueOf(sqlDialect.Types)} {
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() != slices.Contains(left, name) {
				t.Errorf("%s is missing, or is there and should not be", name)
			}
		}
	}
	for _, name := range expr.Nodes() {
		if sqlDialect.Functions[name] == nil {
			t.Errorf("%s is not printed", name)
		}
	}
}

// TestConstantsAreSpelled: no sign of a text is left in a statement.
func TestConstantsAreSpelled(t *testing.T) {
	for _, s := range []string{"", "'", "it's", "a''b", "\x00", "\\", "😀", "?", "$1", "--", "X'00'", "') OR (1=1"} {
		text := constant(s)
		inside, ok := strings.CutPrefix(text, "from_utf8(X'")
		inside, end := strings.CutSuffix(inside, "')")
		if !ok || !end || strings.Trim(inside, "0123456789abcdef") != "" || len(inside) != 2*len(s) {
			t.Errorf("%q is spelled %s", s, text)
		}
	}
	for v, want := range map[any]string{int64(-1 << 63): "BIGINT '-9223372036854775808'", true: "true"} {
		if got := constant(v); got != want {
			t.Errorf("%v is spelled %s", v, got)
		}
	}
	if got := constant([]string{}); got != "NULL" {
		t.Error(got)
	}
}

// TestReadable: which types are read as what, and which are refused.
func TestReadable(t *testing.T) {
	for typ, want := range map[string]string{
		"bigint": "integer decimal", "tinyint": "integer decimal", "real": "decimal", "double": "decimal", "decimal(12,2)": "decimal",
		"decimal(38,0)": "integer decimal", "boolean": "boolean", "date": "date", "timestamp(0)": "date timestamp",
		"timestamp(12)": "date timestamp", "timestamp(3) with time zone": "timestamp", "varchar": "text", "varchar(7)": "text",
		"char(7)": "text", "uuid": "text", "time(3)": "", "time(3) with time zone": "", "varbinary": "", "json": "", "array(bigint)": "",
		"row(a bigint)": "", "map(varchar, bigint)": "", "ipaddress": "", "interval day to second": "", "HyperLogLog": "",
	} {
		var got []string
		for _, p := range []policy.Type{policy.Integer, policy.Decimal, policy.Text, policy.Boolean, policy.Date, policy.Timestamp} {
			if readable(p, typ) {
				got = append(got, p.String())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is read as %v, and not as %s", typ, got, want)
		}
	}
	for typ, want := range map[string]bool{"bigint": true, "varchar(3)": true, "uuid": true, "double": false,
		"real": false, "char(3)": false,
		"timestamp(3) with time zone": false} {
		if names(typ) != want {
			t.Errorf("%s can say whose a row is: %v", typ, !want)
		}
	}
}
