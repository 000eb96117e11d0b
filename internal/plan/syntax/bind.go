package syntax

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// Bind writes the values of its parameters into a question.
func Bind(text string, values []api.Parameter) (string, error) {
	b, err := NewBinding(text, values)
	if err != nil {
		return "", err
	}
	return b.Text, nil
}

// Binding is a question with the values of its parameters written into it.
//
// A value cannot become anything but a value. The text is parsed with its parameters first, so they stand where an expression can. Their
// places are those that PostgreSQL's own scanner finds, so one in a quoted text, a comment or a name is none. What is written there is
// a constant in parentheses. And then the result is parsed too, and must be the same tree, with the constants in the
// places of the parameters and nothing else changed; a text where it is not is refused ([sameTree]).
type Binding struct {
	Text string
	// marks are the places of the parameters, in order.
	marks []mark
}

// mark is a parameter's place in both texts.
type mark struct {
	number      int
	start, end  int // in the question
	from, until int // in the text with values
}

// NewBinding writes the values of its parameters into a question.
func NewBinding(text string, values []api.Parameter) (*Binding, error) {
	before, marks, count, err := Parameters(text)
	if err != nil {
		return nil, err
	}
	if len(values) != count {
		return nil, Refuse(firstMark(marks), "send one value for each", "the question has %s, and %s came with it", plural(count, "parameter"), plural(len(values), "value"))
	}
	if count == 0 {
		return &Binding{Text: text}, nil
	}
	literals := make([]literal, count)
	for i, v := range values {
		l, refused := spellParameter(v)
		if refused != nil {
			return nil, Refuse(placeOf(marks, i+1), refused.Instead, "parameter $%d: %s", i+1, refused.Reason)
		}
		literals[i] = l
	}
	size := len(text) // first: one value may stand in many places
	for _, m := range marks {
		if size += len(literals[m.number-1].sql); size > maxText {
			return nil, Refuse(int32(m.start), "ask a shorter question, or send shorter values", "with its values the question is longer than %d bytes", maxText)
		}
	}
	b := &Binding{marks: marks}
	var out strings.Builder
	at := 0
	for i := range marks {
		m := &marks[i]
		out.WriteString(text[at:m.start])
		m.from = out.Len()
		out.WriteString(literals[m.number-1].sql)
		m.until = out.Len()
		at = m.end
	}
	out.WriteString(text[at:])
	b.Text = out.String()
	after, err := Parse(b.Text)
	if err != nil {
		return nil, b.Original(err)
	}
	if !sameTree(before.ProtoReflect(), after.ProtoReflect(), literals) {
		return nil, Refuse(firstMark(marks), hereInstead, "a parameter cannot be used in this place")
	}
	return b, nil
}

// Original says of a refusal of the text with values where it is in the question. Other errors stay as they are.
func (b *Binding) Original(err error) error {
	var r *api.Refusal
	if errors.As(err, &r) {
		r.Position = b.place(r.Position)
	}
	return err
}

// place is where something of the text with values stands in the question: a value is where its parameter is.
func (b *Binding) place(at int) int {
	shift := 0
	for _, m := range b.marks {
		if at < m.from {
			break
		}
		if at < m.until {
			return m.start
		}
		shift = m.end - m.until
	}
	if at < 0 {
		return at
	}
	return at + shift
}

// Parameters returns the SELECT of a text with its parameters, their places, and the largest of their numbers.
func Parameters(text string) (*pg.SelectStmt, []mark, int, error) {
	s, err := Parse(text)
	if err != nil {
		return nil, nil, 0, hintParameter(text, err)
	}
	scan, err := pg.Scan(text)
	if err != nil {
		return nil, nil, 0, syntaxRefusal(text, err)
	}
	var marks []mark
	count := 0
	for _, t := range scan.Tokens {
		if t.Token != pg.Token_PARAM {
			continue
		}
		n, err := strconv.Atoi(text[t.Start+1 : t.End])
		if err != nil || n < 1 || n > MaxParameters {
			return nil, nil, 0, Refuse(t.Start, "number them from $1 on", "parameters are $1 to $%d", MaxParameters)
		}
		count = max(count, n)
		marks = append(marks, mark{number: n, start: int(t.Start), end: int(t.End)})
	}
	if at, found := ordinalParameter(SelectNode(s)); found {
		return nil, nil, 0, Refuse(at, "write the column's name or position into the question", "a parameter cannot say what to sort or to group by")
	}
	return s, marks, count, nil
}

// hintParameter says more where the grammar stops at a parameter: DATE $1 is none, and $1::date is.
func hintParameter(text string, err error) error {
	var r *api.Refusal
	if errors.As(err, &r) && r.Position >= 0 && r.Position+1 < len(text) && text[r.Position] == '$' && '0' <= text[r.Position+1] && text[r.Position+1] <= '9' {
		r.Instead = hereInstead
	}
	return err
}

const hereInstead = "a parameter stands where an expression can: write $1::date and not DATE $1, and write names, fields and units of time out"

// ordinalParameter finds a parameter that is all there is to sort or group by. A constant there is the position of a column, and a value is
// never read as one. A minus before a constant is a part of it, so - - $1 would be one too.
func ordinalParameter(n *pg.Node) (at int32, found bool) {
	check := func(n *pg.Node) {
		inner := n
		for IsMinus(inner) {
			inner = inner.GetAExpr().Rexpr
		}
		if p := inner.GetParamRef(); p != nil && !found {
			at, found = p.Location, true
		}
	}
	EachNode(n, func(n *pg.Node) bool {
		switch x := n.GetNode().(type) {
		case *pg.Node_SortBy:
			check(x.SortBy.Node)
		case *pg.Node_SelectStmt:
			for _, list := range [][]*pg.Node{x.SelectStmt.GroupClause, x.SelectStmt.DistinctClause} {
				for _, k := range list {
					check(k)
				}
			}
		case *pg.Node_GroupingSet:
			for _, k := range x.GroupingSet.Content {
				check(k)
			}
		}
		return true
	})
	return at, found
}

func IsMinus(n *pg.Node) bool {
	a := n.GetAExpr()
	return a != nil && a.Kind == pg.A_Expr_Kind_AEXPR_OP && a.Lexpr == nil && len(a.Name) == 1 && a.Name[0].GetString_().GetSval() == "-"
}

// sameTree reports whether two trees of the grammar are the same but for places in the text, and for constants where the first has
// parameters.
func sameTree(before, after protoreflect.Message, values []literal) bool {
	if n, ok := before.Interface().(*pg.Node); ok {
		// The grammar takes a minus into the number that follows.
		negative, inner := false, n
		for IsMinus(inner) {
			negative, inner = !negative, inner.GetAExpr().Rexpr
		}
		p := inner.GetParamRef()
		if p != nil && (p.Number < 1 || int(p.Number) > len(values)) {
			return false
		}
		if p != nil && (inner == n || values[p.Number-1].number != "") {
			m, ok := after.Interface().(*pg.Node)
			return ok && values[p.Number-1].is(m, negative)
		}
	}
	if before.Descriptor() != after.Descriptor() {
		return false
	}
	same, count := true, 0 // only fields that are set: a node has hundreds
	before.Range(func(f protoreflect.FieldDescriptor, a protoreflect.Value) bool {
		if isPlace(f) {
			return true
		}
		count++
		same = after.Has(f) && sameValue(f, a, after.Get(f), values)
		return same
	})
	if same {
		after.Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
			if !isPlace(f) {
				count--
			}
			return true
		})
	}
	return same && count == 0
}

// sameValue is sameTree for the value of a field.
func sameValue(f protoreflect.FieldDescriptor, a, b protoreflect.Value, values []literal) bool {
	switch {
	case f.IsList() && f.Message() != nil:
		if a.List().Len() != b.List().Len() {
			return false
		}
		for i := range a.List().Len() {
			if !sameTree(a.List().Get(i).Message(), b.List().Get(i).Message(), values) {
				return false
			}
		}
		return true
	case f.Message() != nil && !f.IsMap():
		return sameTree(a.Message(), b.Message(), values)
	}
	return a.Equal(b)
}

// isPlace reports whether a field is a place in the text.
func isPlace(f protoreflect.FieldDescriptor) bool {
	return f.Kind() == protoreflect.Int32Kind && strings.HasSuffix(string(f.Name()), "location")
}

// is reports whether a node is the value and nothing else.
func (l literal) is(n *pg.Node, negative bool) bool {
	switch l.value.Kind {
	case "date", "timestamp":
		if !l.value.Null {
			c := n.GetTypeCast()
			return c != nil && TypeName(c) == l.value.Kind && len(c.TypeName.Typmods) == 0 && isText(c.Arg, l.value.Text)
		}
	case "text":
		if !l.value.Null {
			return isText(n, l.value.Text)
		}
	}
	c := n.GetAConst()
	switch {
	case c == nil || c.Isnull != l.value.Null:
		return false
	case l.value.Null:
		return true
	}
	switch v := c.Val.(type) {
	case *pg.A_Const_Boolval:
		return l.value.Kind == "boolean" && v.Boolval.Boolval == (l.value.Text == "true")
	case *pg.A_Const_Ival:
		return l.isNumber(strconv.Itoa(int(v.Ival.Ival)), negative)
	case *pg.A_Const_Fval:
		return l.isNumber(v.Fval.Fval, negative)
	}
	return false
}

func (l literal) isNumber(text string, negative bool) bool {
	if l.number == "" {
		return false
	}
	want, err := dp.ParseDecimal(l.number)
	if err != nil {
		return false
	}
	got, err := dp.ParseDecimal(text)
	if negative {
		want.Neg(want)
	}
	return err == nil && got.Cmp(want) == 0 && strings.ContainsAny(text, ".eE") == strings.ContainsAny(l.number, ".eE")
}

func isText(n *pg.Node, text string) bool {
	v, ok := n.GetAConst().GetVal().(*pg.A_Const_Sval)
	return ok && v.Sval.GetSval() == text
}

// placeOf is where a parameter stands first, or -1.
func placeOf(marks []mark, number int) int32 {
	for _, m := range marks {
		if m.number == number {
			return int32(m.start)
		}
	}
	return -1
}

func firstMark(marks []mark) int32 {
	if len(marks) == 0 {
		return -1
	}
	return int32(marks[0].start)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
