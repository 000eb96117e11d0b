package plan

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/policy"
)

// readLiteral reads the text of a literal as a value of a kind.
func readLiteral(text string, k Kind) (*Literal, bool) {
	text = strings.TrimSpace(text)
	switch k {
	case Number, Real:
		if r, err := dp.ParseDecimal(text); err == nil {
			return newNumber(r), true
		}
	case Date:
		if d, ok := policy.ParseDate(text); ok {
			return newDate(d), true
		}
	case Timestamp:
		if m, ok := policy.ParseTimestamp(text); ok {
			return newTimestamp(m), true
		}
	case Boolean:
		if b, ok := readBoolean(text); ok {
			return newBool(b), true
		}
	case Text:
		return newText(text), true
	}
	return nil, false
}

func checkConst(c *pg.A_Const) (Expr, error) {
	if c.Isnull {
		return newNull(Type{}), nil
	}
	switch v := c.Val.(type) {
	case *pg.A_Const_Ival:
		return newNumber(ratOf(int64(v.Ival.GetIval()))), nil
	case *pg.A_Const_Fval:
		r, err := dp.ParseDecimal(v.Fval.GetFval())
		if err != nil {
			return nil, refuse(c.Location, "write a decimal number of at most 64 digits", "this number cannot be read")
		}
		l := newNumber(r)
		l.point = strings.ContainsAny(v.Fval.GetFval(), ".eE")
		return checked(l, c.Location)
	case *pg.A_Const_Boolval:
		return newBool(v.Boolval.GetBoolval()), nil
	case *pg.A_Const_Sval:
		return newText(v.Sval.GetSval()), nil
	}
	return nil, refuse(c.Location, "write a number, a 'text', true, false or a date", "this constant cannot be used here")
}
