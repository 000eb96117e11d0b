package oid

import "testing"

// A type is known by what it is called, in all spellings, and is written as format_type does.
func TestTypes(t *testing.T) {
	own := Types{{OID: 16384, Name: "patients", Schema: PublicSchema, Form: "c", Category: "C"}}
	for text, want := range map[string]struct {
		oid  uint32
		name string
	}{
		"int": {Int4, "integer"}, "pg_catalog.int8": {Int8, "bigint"}, "text[]": {ArrayOf(Text), "text[]"},
		"varchar(3)": {Varchar, "character varying"},
		"decimal":    {Numeric, "numeric"}, `"char"`: {Char, `"char"`}, "patients": {16384, "patients"}, "nothing": {0, "-"},
	} {
		if got := own.Parse(text); got != want.oid || got != 0 && own.Format(got, -1) != want.name {
			t.Errorf("%s is %d, %s", text, got, own.Format(got, -1))
		}
	}
	if Elem(ArrayOf(Int4)) != Int4 || KindOf(ArrayOf(Int4)) != KindList || KindOf(Numeric) != KindFloat || KindOf(Regclass) != KindInt {
		t.Error("arrays, numbers and names of objects are of other kinds")
	}
}
