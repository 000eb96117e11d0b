package interpret

import (
	"fmt"
	"strings"
	"testing"
)

// TestForms: a signature says which forms a function has.
func TestForms(t *testing.T) {
	for signature, want := range map[string]string{
		"version() text":                         "version[] 25",
		"substring|substr(text,int4,int4=) text": "substring[25 23] 25; substring[25 23 23] 25; substr[25 23] 25; substr[25 23 23] 25",
		"pg_has_role(name|oid,text) bool":        "pg_has_role[19 25] 16; pg_has_role[26 25] 16",
		"lax concat_ws(text,...any) text":        "lax concat_ws[25 0]... 25",
		"unnest(anyarray) setof anyelement":      "unnest[2277] setof 2283",
		"f(text[]) (a text, b int4)":             "f[1009] setof 2249 [{a 25} {b 23}]",
	} {
		var got []string
		for _, f := range forms(Function{Signature: signature}) {
			s := fmt.Sprintf("%s%v ", f.name, f.args)
			if f.lax {
				s = "lax " + s
			}
			if f.variadic {
				s = strings.TrimSpace(s) + "... "
			}
			if f.set {
				s += "setof "
			}
			s += fmt.Sprint(f.result)
			if f.cols != nil {
				s += fmt.Sprint(" ", f.cols)
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s: %s, and not %s", signature, s, want)
		}
	}
}
