package syntax

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// substitute puts values into the places of parameters, as the grammar would read them there: it
// takes a minus, but not OPERATOR(-), into the number that follows.
func substitute(sql string, n *pg.Node, values []literal) {
	EachNode(n, func(n *pg.Node) bool {
		minus, at, inner := 0, int32(-1), n
		for IsMinus(inner) && sql[inner.GetAExpr().Location] == '-' {
			if minus++; at < 0 {
				at = inner.GetAExpr().Location
			}
			inner = inner.GetAExpr().Rexpr
		}
		p := inner.GetParamRef()
		if p == nil {
			return true
		}
		l := values[p.Number-1]
		if inner != n && l.number == "" {
			return true // of a text it is not
		}
		if minus == 0 {
			at = p.Location
		}
		n.Node = l.constant(at, minus%2 == 1).Node
		return false
	})
}

// constant is the value as the grammar reads it at a place.
func (l literal) constant(at int32, negative bool) *pg.Node {
	if l.array {
		array := &pg.A_ArrayExpr{Location: at}
		for _, e := range l.items {
			array.Elements = append(array.Elements, e.constant(at, false))
		}
		return &pg.Node{Node: &pg.Node_AArrayExpr{AArrayExpr: array}}
	}
	c := &pg.A_Const{Location: at}
	switch v := l.value; {
	case v.Null:
		c.Isnull = true
	case l.number != "":
		l.setNumber(c, negative)
	case v.Kind == "boolean":
		c.Val = &pg.A_Const_Boolval{Boolval: &pg.Boolean{Boolval: v.Text == "true"}}
	default:
		c.Val = &pg.A_Const_Sval{Sval: &pg.String{Sval: v.Text}}
	}
	node := &pg.Node{Node: &pg.Node_AConst{AConst: c}}
	names := map[string][]string{"date": {"date"}, "timestamp": {"pg_catalog", "timestamp"}}[l.value.Kind]
	if names == nil || l.value.Null {
		return node
	}
	typ := &pg.TypeName{Typemod: -1, Location: at}
	for _, name := range names {
		typ.Names = append(typ.Names, &pg.Node{Node: &pg.Node_String_{String_: &pg.String{Sval: name}}})
	}
	return &pg.Node{Node: &pg.Node_TypeCast{TypeCast: &pg.TypeCast{Arg: node, TypeName: typ, Location: -1}}}
}

// setNumber sets a number: a whole one of 32 bits, or its text, in which the sign stands.
func (l literal) setNumber(c *pg.A_Const, negative bool) {
	digits, minus := strings.CutPrefix(l.number, "-")
	minus = minus != negative
	if n, err := strconv.ParseInt(digits, 10, 32); err == nil {
		if minus {
			n = -n
		}
		c.Val = &pg.A_Const_Ival{Ival: &pg.Integer{Ival: int32(n)}}
		return
	}
	if minus {
		digits = "-" + digits
	}
	c.Val = &pg.A_Const_Fval{Fval: &pg.Float{Fval: digits}}
}

// words are the kinds of the words that a value has where it is written out: what matters of them
// is what nests.
func (l literal) words() []pg.Token {
	const other = pg.Token_ICONST
	middle := []pg.Token{other}
	switch {
	case l.value.Null:
	case l.array:
		middle = nil
		for _, e := range l.items {
			middle = append(append(middle, other), e.words()...)
		}
	case strings.HasPrefix(l.number, "-"):
		middle = []pg.Token{pg.Token_ASCII_45, other}
	case l.value.Kind == "date" || l.value.Kind == "timestamp":
		middle = []pg.Token{other, other}
	}
	return append(append([]pg.Token{pg.Token_ASCII_40}, middle...), pg.Token_ASCII_41)
}
