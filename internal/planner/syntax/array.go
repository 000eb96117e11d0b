package syntax

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
)

// MaxElements is how many elements an array can have: as many as a list could that is written out.
const MaxElements = 2000

// Elements reads the text of an array of one dimension and at most so many elements, as in {a,"b
// c",NULL}. NULL is nil.
func Elements(text string, most int) ([]*string, bool) {
	r := arrayReader{text: strings.TrimSpace(text)}
	if !r.skip('{') {
		return nil, false
	}
	var out []*string
	if r.blank(); r.skip('}') {
		return out, r.rest() == ""
	}
	for len(out) < most {
		e, ok := r.element()
		if !ok {
			return nil, false
		}
		out = append(out, e)
		if r.blank(); r.skip(',') {
			continue
		}
		return out, r.skip('}') && r.rest() == ""
	}
	return nil, false
}

type arrayReader struct {
	text string
	at   int
}

const arrayBlank = " \t\n\r\v\f"

func (r *arrayReader) rest() string { return r.text[r.at:] }
func (r *arrayReader) blank()       { r.at = len(r.text) - len(strings.TrimLeft(r.rest(), arrayBlank)) }

func (r *arrayReader) skip(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

// element reads one element: in quotes, or as it stands.
func (r *arrayReader) element() (*string, bool) {
	if r.blank(); r.skip('"') {
		return r.until('"')
	}
	var b strings.Builder
	end, escaped := 0, false // blanks at the end are none of it
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		switch c {
		case ',', '}':
			out := b.String()[:end]
			if out == "" {
				return nil, false
			}
			if strings.EqualFold(out, "null") && !escaped {
				return nil, true
			}
			return &out, true
		case '{', '"':
			return nil, false
		case '\\':
			if r.at++; r.at == len(r.text) {
				return nil, false
			}
			c, escaped = r.text[r.at], true
			b.WriteByte(c)
			end = b.Len()
			continue
		}
		if b.WriteByte(c); strings.IndexByte(arrayBlank, c) < 0 {
			end = b.Len()
		}
	}
	return nil, false
}

func (r *arrayReader) until(quote byte) (*string, bool) {
	var b strings.Builder
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		if c == quote {
			r.at++
			out := b.String()
			return &out, true
		}
		if c == '\\' {
			if r.at++; r.at == len(r.text) {
				return nil, false
			}
			c = r.text[r.at]
		}
		b.WriteByte(c)
	}
	return nil, false
}

// maxExpandedNodes bounds the nodes that arrays of a text are spread into. A list of constants is
// as long as a text can be; x LIKE ANY (array) repeats x, which may be long itself.
const maxExpandedNodes = 20_000

// expandArrays writes comparisons with arrays of constants as lists, which is what they mean: x =
// ANY (ARRAY[1, 2]) and x = ANY ('{1,2}') are x IN (1, 2), and x <> ALL (...) is NOT IN. So there
// is one way to compare with several values, below the noise and above it. What is no array of
// constants, or too long, stays as it is, and is refused where it is met.
func expandArrays(s *pg.SelectStmt) {
	var found []*pg.Node
	EachNode(SelectNode(s), func(n *pg.Node) bool {
		switch x := n.GetNode().(type) {
		case *pg.Node_SelectStmt:
			x.SelectStmt.LimitCount = bareLimit(x.SelectStmt.LimitCount)
			x.SelectStmt.LimitOffset = bareLimit(x.SelectStmt.LimitOffset)
		case *pg.Node_AExpr:
			if k := x.AExpr.Kind; k == pg.A_Expr_Kind_AEXPR_OP_ANY || k == pg.A_Expr_Kind_AEXPR_OP_ALL {
				found = append(found, n)
			}
		}
		return true
	})
	left := maxExpandedNodes
	for i := len(found) - 1; i >= 0; i-- { // those inside of others first
		if flat := expandArray(found[i].GetAExpr(), &left); flat != nil {
			found[i].Node = flat.Node
		}
	}
}

// expandArray is a comparison with an array as one with a list, or nil.
func expandArray(a *pg.A_Expr, left *int) *pg.Node {
	items, null, ok := elements(a.Rexpr)
	if !ok || len(a.Name) != 1 {
		return nil
	}
	op, each := a.Name[0].GetString_().GetSval(), a.Kind == pg.A_Expr_Kind_AEXPR_OP_ALL
	switch {
	case null:
		return &pg.Node{Node: &pg.Node_AConst{AConst: &pg.A_Const{Isnull: true, Location: a.Location}}}
	case len(items) == 0:
		return &pg.Node{Node: &pg.Node_AConst{AConst: &pg.A_Const{
			Val: &pg.A_Const_Boolval{Boolval: &pg.Boolean{Boolval: each}}, Location: a.Location}}}
	}
	if *left -= len(items); *left < 0 {
		return nil
	}
	if op == "=" && !each || op == "<>" && each {
		return comparison(a, pg.A_Expr_Kind_AEXPR_IN, a.Lexpr, &pg.Node{Node: &pg.Node_List{List: &pg.List{Items: items}}})
	}
	size := 0
	EachNode(a.Lexpr, func(*pg.Node) bool { size++; return true })
	if *left -= size * len(items); *left < 0 {
		return nil
	}
	kind := likeKind(op)
	logic := &pg.BoolExpr{Boolop: pg.BoolExprType_OR_EXPR, Location: a.Location}
	if each {
		logic.Boolop = pg.BoolExprType_AND_EXPR
	}
	for _, item := range items {
		logic.Args = append(logic.Args, comparison(a, kind, proto.Clone(a.Lexpr).(*pg.Node), item))
	}
	if len(items) == 1 {
		return logic.Args[0]
	}
	return &pg.Node{Node: &pg.Node_BoolExpr{BoolExpr: logic}}
}

func comparison(a *pg.A_Expr, kind pg.A_Expr_Kind, l, r *pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_AExpr{AExpr: &pg.A_Expr{Kind: kind, Name: a.Name, Lexpr: l, Rexpr: r, Location: a.Location}}}
}

// elements are those of an array that is written out: ARRAY[...], '{...}', or one of these with a
// cast, which is then one of each element. Null is that there is no array.
func elements(n *pg.Node) (items []*pg.Node, null, ok bool) {
	switch x := n.GetNode().(type) {
	case *pg.Node_AArrayExpr:
		for _, e := range x.AArrayExpr.Elements {
			if e.GetAArrayExpr() != nil {
				return nil, false, false
			}
		}
		return x.AArrayExpr.Elements, false, true
	case *pg.Node_AConst:
		if x.AConst.Isnull {
			return nil, true, true
		}
		text, isText := x.AConst.Val.(*pg.A_Const_Sval)
		if !isText {
			return nil, false, false
		}
		texts, ok := Elements(text.Sval.GetSval(), MaxElements)
		for _, t := range texts {
			items = append(items, textNode(t, x.AConst.Location))
		}
		return items, false, ok
	case *pg.Node_TypeCast:
		t := x.TypeCast.TypeName
		if len(t.GetArrayBounds()) != 1 || t.GetSetof() {
			return nil, false, false
		}
		inner, null, ok := elements(x.TypeCast.Arg)
		of := proto.Clone(t).(*pg.TypeName)
		of.ArrayBounds = nil
		for _, e := range inner {
			items = append(items, &pg.Node{Node: &pg.Node_TypeCast{TypeCast: &pg.TypeCast{Arg: e, TypeName: of,
				Location: x.TypeCast.Location}}})
		}
		return items, null, ok
	}
	return nil, false, false
}

// textNode is a quoted constant, or NULL.
func textNode(t *string, at int32) *pg.Node {
	c := &pg.A_Const{Isnull: t == nil, Location: at}
	if t != nil {
		c.Val = &pg.A_Const_Sval{Sval: &pg.String{Sval: *t}}
	}
	return &pg.Node{Node: &pg.Node_AConst{AConst: c}}
}

// bareLimit takes the cast off a number of rows: LIMIT $1::integer is what drivers write.
func bareLimit(n *pg.Node) *pg.Node {
	c := n.GetTypeCast()
	switch TypeName(c) {
	case "int2", "int4", "int8":
	default:
		return n
	}
	switch v := c.Arg.GetAConst().GetVal().(type) {
	case *pg.A_Const_Ival:
		return c.Arg
	case *pg.A_Const_Sval:
		if i, err := strconv.ParseInt(strings.TrimSpace(v.Sval.GetSval()), 10, 32); err == nil {
			return &pg.Node{Node: &pg.Node_AConst{AConst: &pg.A_Const{Val: &pg.A_Const_Ival{Ival: &pg.Integer{Ival: int32(i)}},
				Location: c.Arg.GetAConst().GetLocation()}}}
		}
	}
	if c.GetArg().GetAConst().GetIsnull() {
		return c.Arg
	}
	return n
}
