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
	case Boolean:
		switch strings.ToLower(text) {
		case "t", "true", "yes", "on", "1":
			return newBool(true), true
		case "f", "false", "no", "off", "0":
			return newBool(false), true
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
		return checked(newNumber(r), c.Location)
	case *pg.A_Const_Boolval:
		return newBool(v.Boolval.GetBoolval()), nil
	case *pg.A_Const_Sval:
		return newText(v.Sval.GetSval()), nil
	}
	return nil, refuse(c.Location, "write a number, a 'text', true, false or a date", "this constant cannot be used here")
}

// checkCast takes a cast of a constant only, which is read now and cannot fail later.
func checkCast(c *pg.TypeCast) (Expr, error) {
	const instead = "casts are for constants, as in DATE '2024-01-31'; the policy gives columns their types"
	pos := c.Location
	if pos < 0 { // DATE '2024-01-31' has no place of its own
		pos = location(c.Arg)
	}
	name := ""
	if names := c.TypeName.GetNames(); len(names) > 0 && len(c.TypeName.GetArrayBounds()) == 0 && !c.TypeName.GetSetof() {
		name = names[len(names)-1].GetString_().GetSval()
	}
	kind, ok := map[string]Kind{
		"date": Date, "bool": Boolean, "text": Text, "varchar": Text,
		"int2": Number, "int4": Number, "int8": Number, "numeric": Number, "float4": Number, "float8": Number,
	}[name]
	if !ok {
		return nil, refuse(pos, instead, "a cast to this type cannot be used here")
	}
	node := c.Arg.GetAConst()
	if node == nil {
		return nil, refuse(pos, instead, "only a constant can be cast")
	}
	e, err := checkConst(node)
	if err != nil {
		return nil, err
	}
	lit := e.(*Literal)
	switch {
	case lit.IsNullLiteral():
		return newNull(Type{}), nil
	case lit.typ.Kind == kind:
	case lit.Text != nil:
		if lit, ok = readLiteral(*lit.Text, kind); !ok {
			return nil, refuse(pos, "write for example DATE '2024-01-31', true or 12.5", "this text is not %s", article(kind))
		}
	default:
		return nil, refuse(pos, instead, "this constant cannot be cast to this type")
	}
	if strings.HasPrefix(name, "int") && !lit.typ.Integer() {
		return nil, refuse(pos, "write a whole number", "this constant is not a whole number")
	}
	return checked(lit, pos)
}
