package interpret

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// aggregateFunction is an aggregate function that can be called.
type aggregateFunction struct {
	untyped []uint32                  // what arguments without a type become, one for each
	result  func(args []*expr) uint32 // the type of the result, or 0 where it does not take these
	total   func(r *run, a *aggregate, rows []datum.Tuple) (datum.Value, error)
}

var aggregates = map[string]*aggregateFunction{
	"count":     {oneText, func([]*expr) uint32 { return oid.Int8 }, countRows},
	"min":       {oneText, extremeType, extreme(-1)},
	"max":       {oneText, extremeType, extreme(1)},
	"sum":       {oneText, sumType, sum},
	"avg":       {oneText, averageType, average},
	"bool_or":   {oneBool, boolType, agreement(true)},
	"bool_and":  {oneBool, boolType, agreement(false)},
	"every":     {oneBool, boolType, agreement(false)},
	"array_agg": {oneText, func(args []*expr) uint32 { return oid.ArrayOf(args[0].typ) }, collect},
	"json_agg":  {oneText, func([]*expr) uint32 { return oid.JSON }, collectDocument},
	"jsonb_agg": {oneText, func([]*expr) uint32 { return oid.JSONB }, collectDocument},

	"json_object_agg":  {[]uint32{oid.Text, oid.Text}, func([]*expr) uint32 { return oid.JSON }, collectMembers},
	"jsonb_object_agg": {[]uint32{oid.Text, oid.Text}, func([]*expr) uint32 { return oid.JSONB }, collectMembers},

	"bit_and": {oneText, bitsType, allBits("&")},
	"bit_or":  {oneText, bitsType, allBits("|")},
	"bit_xor": {oneText, bitsType, allBits("#")},

	"string_agg": {[]uint32{oid.Text, oid.Text}, stringsType, joinTexts},
}

var oneText, oneBool = []uint32{oid.Text}, []uint32{oid.Bool}

func boolType(args []*expr) uint32 {
	if args[0].typ != oid.Bool {
		return 0
	}
	return oid.Bool
}

func extremeType(args []*expr) uint32 {
	switch t := args[0].typ; {
	case t == oid.Bool || oid.KindOf(t) == oid.KindRecord:
		return 0
	case t == oid.Name || t == oid.Varchar || t == oid.Char:
		return oid.Text
	default:
		return t
	}
}

func sumType(args []*expr) uint32 {
	switch t := args[0].typ; t {
	case oid.Int2, oid.Int4:
		return oid.Int8
	case oid.Int8, oid.Numeric:
		return oid.Numeric
	case oid.Float4, oid.Float8:
		return t
	}
	return 0
}

func averageType(args []*expr) uint32 {
	switch t := args[0].typ; {
	case oid.IsInt(t) || t == oid.Numeric:
		return oid.Numeric
	case t == oid.Float4 || t == oid.Float8:
		return oid.Float8
	}
	return 0
}

func stringsType(args []*expr) uint32 {
	for _, x := range args {
		if !oid.IsString(x.typ) {
			return 0
		}
	}
	return oid.Text
}

// known are the first columns of the rows, without NULLs.
func known(rows []datum.Tuple) []datum.Value {
	var out []datum.Value
	for _, t := range rows {
		if t[0] != nil {
			out = append(out, t[0])
		}
	}
	return out
}

func countRows(_ *run, a *aggregate, rows []datum.Tuple) (datum.Value, error) {
	if a.star {
		return datum.Int(len(rows)), nil
	}
	return datum.Int(len(known(rows))), nil
}

// extreme is the smallest or the largest value.
func extreme(sign int) func(*run, *aggregate, []datum.Tuple) (datum.Value, error) {
	return func(_ *run, _ *aggregate, rows []datum.Tuple) (best datum.Value, err error) {
		for _, v := range known(rows) {
			if best == nil || sign*datum.Compare(v, best) > 0 {
				best = v
			}
		}
		return best, nil
	}
}

func sum(_ *run, a *aggregate, rows []datum.Tuple) (datum.Value, error) {
	values := known(rows)
	if len(values) == 0 {
		return nil, nil
	}
	if a.typ == oid.Int8 {
		total := datum.Int(0)
		for _, v := range values {
			total += v.(datum.Int) // int4 summed over at most millions of rows
		}
		return total, nil
	}
	if a.typ == oid.Numeric {
		total := datum.Numeric{}
		for _, v := range values {
			total = total.Plus(numeric(v))
		}
		return total, nil
	}
	total := datum.Float(0)
	for _, v := range values {
		total += datum.Float(float(v))
	}
	return total, nil
}

func average(r *run, a *aggregate, rows []datum.Tuple) (datum.Value, error) {
	total, err := sum(r, a, rows)
	if total == nil || err != nil {
		return nil, err
	}
	if n := datum.NewNumeric(int64(len(known(rows)))); a.typ == oid.Numeric {
		return numeric(total).Over(n), nil
	}
	return total.(datum.Float) / datum.Float(len(known(rows))), nil
}

// agreement is whether a value is stop, or all are the other.
func agreement(stop bool) func(*run, *aggregate, []datum.Tuple) (datum.Value, error) {
	return func(r *run, _ *aggregate, rows []datum.Tuple) (datum.Value, error) {
		values := known(rows)
		if len(values) == 0 {
			return nil, nil
		}
		return r.decide(len(values), stop, func(i int) (datum.Value, error) { return values[i], nil })
	}
}

func collect(r *run, _ *aggregate, rows []datum.Tuple) (datum.Value, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	return r.column(rows)
}

func joinTexts(r *run, _ *aggregate, rows []datum.Tuple) (datum.Value, error) {
	var b strings.Builder
	begun := false
	for _, t := range rows {
		s, ok := t[0].(datum.Text)
		if !ok {
			continue
		}
		if sep, _ := t[1].(datum.Text); begun {
			b.WriteString(string(sep))
		}
		begun = true
		if b.WriteString(string(s)); b.Len() > maxString {
			return nil, tooLong()
		}
	}
	if !begun {
		return nil, nil
	}
	return r.text(b.String())
}

// collectDocument makes an array of JSON. What has parts begins a line.
func collectDocument(r *run, a *aggregate, rows []datum.Tuple) (datum.Value, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	t := a.args[0].typ
	kind := oid.KindOf(t)
	separator := ", "
	if kind == oid.KindList || kind == oid.KindRecord {
		separator = ", \n "
	}
	w := jsonWriter{run: r}
	for i, row := range rows {
		w.WriteString(map[bool]string{true: "[", false: separator}[i == 0])
		if err := w.write(row[0], t, 0); err != nil {
			return nil, err
		}
	}
	w.WriteByte(']')
	return documentOf(r, w.String(), a.typ)
}

// collectMembers makes an object of JSON of names and values.
func collectMembers(r *run, a *aggregate, rows []datum.Tuple) (datum.Value, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	w := jsonWriter{run: r}
	for i, row := range rows {
		w.WriteString(map[bool]string{true: "{ ", false: ", "}[i == 0])
		if row[0] == nil {
			return nil, Fail("22023", "field name must not be null")
		}
		name, err := r.castToText(row[0], a.args[0].typ, oid.Text)
		if err != nil {
			return nil, err
		}
		w.quote(string(name.(datum.Text)))
		w.WriteString(" : ")
		if err := w.write(row[1], a.args[1].typ, 0); err != nil {
			return nil, err
		}
	}
	w.WriteString(" }")
	return documentOf(r, w.String(), a.typ)
}

func documentOf(r *run, s string, t uint32) (datum.Value, error) {
	if t == oid.JSONB {
		return normalDocument(r, s, t)
	}
	return r.text(s)
}

func bitsType(args []*expr) uint32 {
	if oid.IsInt(args[0].typ) {
		return args[0].typ
	}
	return 0
}

// allBits puts all values together with an operator on bits.
func allBits(op string) func(*run, *aggregate, []datum.Tuple) (datum.Value, error) {
	return func(_ *run, a *aggregate, rows []datum.Tuple) (total datum.Value, err error) {
		for _, v := range known(rows) {
			if total == nil {
				total = v
			} else if total, err = computeInt(op, total.(datum.Int), v.(datum.Int), a.typ); err != nil {
				return nil, err
			}
		}
		return total, nil
	}
}
