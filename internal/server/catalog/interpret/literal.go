package interpret

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// constant is an expression of a known value.
func constant(t uint32, v datum.Value) *expr {
	return &expr{typ: t, eval: func(*env) (datum.Value, error) { return v, nil }}
}

// untypedLiteral is a text that what is around it gives a type.
func untypedLiteral(s string) *expr {
	x := constant(oid.Unknown, datum.Text(s))
	x.lit = &s
	return x
}

// untypedNull is a NULL that what is around it gives a type.
func untypedNull() *expr {
	x := constant(oid.Unknown, nil)
	x.null = true
	return x
}

// constant binds a literal.
func (s *scope) constant(k *pg.A_Const) (*expr, error) {
	if k.Isnull {
		return untypedNull(), nil
	}
	switch v := k.Val.(type) {
	case *pg.A_Const_Ival:
		return constant(oid.Int4, datum.Int(v.Ival.GetIval())), nil
	case *pg.A_Const_Fval:
		text := v.Fval.GetFval()
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return constant(oid.Int8, datum.Int(n)), nil
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, locate(Fail("22003", "the number %s is out of range", clip(text)), k.Location)
		}
		return constant(oid.Numeric, datum.Float(f)), nil
	case *pg.A_Const_Boolval:
		return constant(oid.Bool, datum.Bool(v.Boolval.GetBoolval())), nil
	case *pg.A_Const_Sval:
		return untypedLiteral(v.Sval.GetSval()), nil
	}
	return nil, unsupported("a bit string")
}
