package publictime

import (
	"math"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/planner/posix"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// expression adds what it takes to compute an expression for each row, and returns how long its
// text is, where it is one.
func (w *estimator) expression(e tree.Expr, l load) float64 {
	if e == nil {
		return 0
	}
	ns, length := w.operations(e, l)
	w.each(l.rows, ns)
	return length
}

// operations is what an expression takes for one row, and the length of its text.
func (w *estimator) operations(e tree.Expr, l load) (ns, length float64) {
	w.alone += w.node
	if asked, ok := e.(*tree.Exists); ok {
		w.exists(asked, l)
		return w.operation, 0
	}
	lengths := make([]float64, 0, 4)
	longest := 0.0
	for i, p := range tree.Parts(e) {
		n, k := w.operations(p, l)
		ns += n * timesWritten(e, i)
		lengths = append(lengths, k)
		longest = max(longest, k)
	}
	own, length := w.nodeCost(e, l, lengths, longest)
	if n := e.Type().MaxLength; e.Type().Kind == tree.Text && n > 0 {
		length = min(length, maxCharBytes*float64(n))
	}
	return ns + own, length
}

// maxCharBytes is how many bytes a character has at most.
const maxCharBytes = 4

// timesWritten is how often a part is written, where an engine computes it each time.
func timesWritten(e tree.Expr, part int) float64 {
	switch e := e.(type) {
	case *tree.Arith:
		if part == 1 && (e.Op == tree.Div || e.Op == tree.Quo || e.Op == tree.Rem) {
			return 2
		}
	case *tree.Within:
		return 2
	case *tree.Call:
		switch e.Fn {
		case "parse_boolean", "nullif", "split_part":
			return 2
		case "round", "floor", "ceil", "trunc":
			if t := e.Args[0].Type(); t.Kind == tree.Real {
				return 3
			} else if e.Fn == "round" && t.Lo.Sign() < 0 {
				return 2
			}
		}
	}
	return 1
}

// nodeCost is what a node takes without its parts, of which texts have lengths, and the length of
// its own text.
func (w *estimator) nodeCost(e tree.Expr, l load, lengths []float64, longest float64) (ns, length float64) {
	switch e := e.(type) {
	case *tree.Column:
		if e.Index < len(l.lengths) && e.Field.Type.Kind == tree.Text {
			return 0, l.lengths[e.Index]
		}
		return 0, 0
	case *tree.Literal:
		if e.Text != nil {
			return 0, float64(len(*e.Text))
		}
		return 0, 0
	case *tree.Arith:
		switch wide := e.Typ.Wide() || e.L.Type().Wide() || e.R.Type().Wide(); {
		case wide && (e.Op == tree.Quo || e.Op == tree.Rem):
			return w.divided, 0
		case wide:
			return w.wide, 0
		}
		return w.operation, 0
	case *tree.Rescale:
		if e.Typ.Wide() {
			return w.wide, 0
		}
		return w.operation, 0
	case *tree.ToReal:
		if e.X.Type().Wide() {
			return w.written + w.parsed, 0
		}
		return 2 * w.operation, 0
	case *tree.Compare:
		w.addEquality(e)
		if e.L.Type().Kind == tree.Text {
			return w.compared + w.byte*(lengths[0]+lengths[1]), 0
		}
		return w.operation, 0
	case *tree.In:
		if e.X.Type().Kind == tree.Text {
			return w.compared + w.byte*lengths[0] + 2*float64(len(e.List))*w.operation, 0
		}
		return w.operation + 2*float64(len(e.List))*w.operation, 0
	case *tree.Like:
		return w.likeCost(e, lengths[0]), 0
	case *tree.Case:
		return float64(len(e.Whens)) * (w.branch + w.byte*longest), longest
	case *tree.Within:
		return w.branch + 2*w.operation, 0
	case *tree.Logic:
		return float64(len(e.Args)) * w.operation, 0
	case *tree.Call:
		return w.callCost(e, lengths, longest)
	}
	return w.operation, 0
}

// addEquality adds what it takes to plan one more comparison of two values: DuckDB makes a third
// one of each two that are equalities.
func (w *estimator) addEquality(e *tree.Compare) {
	if !e.Equates() {
		return
	}
	if w.equal++; w.equal > 3 { // few are in what every statement takes
		w.alone += w.equality * (2*w.equal - 1)
	}
}

// likeCost is a pattern over a text of a length.
func (w *estimator) likeCost(e *tree.Like, length float64) float64 {
	inner := e.Pattern
	first := len(inner) > 0 && inner[0].Anything()
	if first {
		inner = inner[1:]
	}
	if len(inner) > 0 && inner[len(inner)-1].Anything() {
		inner = inner[:len(inner)-1]
	}
	wildcards := 0.0
	for _, p := range inner {
		if p.Anything() || p.One() {
			wildcards++
		}
	}
	switch {
	case wildcards > 0:
		return w.match + length*(w.matched+w.wildcard*wildcards)
	case first:
		return w.compared + w.searched*length
	}
	return w.compared + w.byte*min(length, float64(len(inner)))
}

func (w *estimator) callCost(e *tree.Call, lengths []float64, longest float64) (ns, length float64) {
	sum := 0.0
	for _, n := range lengths {
		sum += n
	}
	text := e.Typ.Kind == tree.Text
	switch e.Fn {
	case "||", "concat", "concat_ws":
		return w.text + w.made*sum, sum
	case "lpad", "rpad":
		n, bytes, runes := longest, 1.0, max(1, lengths[2])
		if c, ok := e.Args[1].(*tree.Literal); ok && c.Number != nil {
			n = float64(c.Number.Int64())
		}
		if c, ok := e.Args[2].(*tree.Literal); ok && c.Text != nil && *c.Text != "" {
			runes = float64(utf8.RuneCountInString(*c.Text))
			bytes = lengths[2] / runes
		}
		return w.text + w.made*(bytes*n+lengths[0]) + w.padded*n/runes, bytes * n
	case "replace":
		n := lengths[0]
		if lengths[1] > 0 {
			n *= max(1, lengths[2]/lengths[1])
		}
		return w.text + w.trimmed*lengths[0] + w.made*n, n
	case "lower", "upper":
		return w.text + w.changed*lengths[0], lengths[0]
	case "split_part", "btrim", "ltrim", "rtrim":
		return w.text + w.trimmed*lengths[0], lengths[0]
	case "substring", "right", "left":
		n := lengths[0]
		if c, ok := e.Args[len(e.Args)-1].(*tree.Literal); ok && c.Number != nil && len(e.Args) != 2 || e.Fn != "substring" {
			if ok && c.Number != nil {
				n = min(n, maxCharBytes*math.Abs(float64(c.Number.Int64())))
			}
		}
		return w.text + w.made*lengths[0], n
	case "strpos", "length":
		return w.compared + w.searched*lengths[0], 0
	case "matches":
		if w.cluster {
			return w.match + w.stepped*automatonFactor(e)*lengths[0], 0
		}
		return w.match + w.matched*lengths[0], 0
	case "parse_integer", "parse_date", "parse_timestamp":
		return w.match + w.matched*lengths[0] + w.parsed, 0
	case "parse_boolean":
		return 2 * (w.translated + w.changed*lengths[0]), 0
	case "parse_decimal":
		// What is no number of the form has no more digits than these.
		return w.match + w.matched*lengths[0] + w.decimal*min(2+lengths[0], 38) + w.parsed + w.written, 0
	case "text":
		if t := e.Args[0].Type(); t.Kind == tree.Number && t.Integer() {
			return w.spelled, 20
		}
		return w.written, 24
	case "extract", "date_trunc", "add_interval":
		return 2 * w.calendar, 0
	case "sqrt", "ln", "log10", "exp", "power":
		return w.real, 0
	case "coalesce", "nullif", "greatest", "least":
		if text {
			return float64(len(lengths)) * (w.compared + w.byte*longest), longest
		}
		return float64(len(lengths)) * w.branch, 0
	case "round", "floor", "ceil", "trunc":
		switch t := e.Args[0].Type(); {
		case t.Wide():
			return 2*w.real + w.divided, 0
		case t.Kind == tree.Real:
			return 4 * w.real, 0
		}
		return 5 * w.operation, 0
	}
	if text {
		return w.text + w.made*longest, longest
	}
	return 2*w.operation + w.searched*longest, 0
}

// automatonFactor is how many times as long an automaton takes for a character as a small one does.
// What is written out of a large one is too long to be compiled as a whole.
func automatonFactor(e *tree.Call) float64 {
	const small, large = 100, 4
	pattern, ok := e.Args[1].(*tree.Literal)
	if !ok || pattern.Text == nil {
		return large
	}
	a, err := posix.NewAutomaton(*pattern.Text)
	if err != nil {
		return large
	}
	edges := 0
	for _, s := range a.States {
		edges += len(s.Edges)
	}
	if edges > small {
		return large
	}
	return 1
}
