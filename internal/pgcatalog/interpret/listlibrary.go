package interpret

import (
	"math"
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// listFunctions are the functions on arrays and sets.
var listFunctions = []Function{
	{"array_length(anyarray,int4) int4", bound(func(l datum.List, _ int) datum.Int { return datum.Int(len(l)) })},
	{"array_lower(anyarray,int4) int4", bound(func(_ datum.List, first int) datum.Int { return datum.Int(first) })},
	{"array_upper(anyarray,int4) int4", bound(func(l datum.List, first int) datum.Int { return datum.Int(len(l) - 1 + first) })},
	{"cardinality(anyarray) int4", func(c *Call) (datum.Value, error) { return datum.Int(len(c.List(0))), nil }},
	{"lax array_to_string(anyarray,text,text=) text", joinList},
	{"lax string_to_array(text,text,text=) text[]", splitText},
	{"lax array_position(anyarray,any) int4", findElement},
	{"lax array_remove(anyarray,any) anyarray", removeElements},
	{"unnest(anyarray) setof anyelement", func(c *Call) (datum.Value, error) { return c.Args[0], nil }},
	{"_pg_expandarray(anyarray) (x anyelement, n int4)", numberElements},
	{"lax pg_typeof(any) regtype", func(c *Call) (datum.Value, error) { return datum.Int(c.Types[0]), nil }},
	{"generate_subscripts(anyarray,int4) setof int4", subscripts},
	{"generate_series(int4,int4,int4=) setof int4", series},
	{"generate_series(int8,int8,int8=) setof int8", series},
}

// firstIndex is the number of the first element of an array.
func firstIndex(t uint32) int {
	if oid.IsVector(t) {
		return 0
	}
	return 1
}

// bound makes a function on the bounds of an array, which has one dimension, or none where it is
// empty.
func bound(f func(l datum.List, first int) datum.Int) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		l := c.List(0)
		if c.Int(1) != 1 || len(l) == 0 {
			return nil, nil
		}
		return f(l, firstIndex(c.Types[0])), nil
	}
}

func joinList(c *Call) (datum.Value, error) {
	if c.Args[0] == nil || c.Args[1] == nil {
		return nil, nil
	}
	var null datum.Value
	if len(c.Args) > 2 {
		null = c.Args[2]
	}
	return c.joinValues(c.List(0), []uint32{oid.Elem(c.Types[0])}, c.Text(1), null)
}

func splitText(c *Call) (datum.Value, error) {
	if c.Args[0] == nil {
		return nil, nil
	}
	s, sep := c.Text(0), c.Text(1)
	parts := []string{s}
	switch {
	case s == "":
		parts = nil
	case sep != "" || c.Args[1] == nil: // without a separator every character is a part
		if err := c.run.take(16 * strings.Count(s, sep)); err != nil {
			return nil, err
		}
		parts = strings.Split(s, sep)
	}
	out := datum.Texts(parts...)
	for i, p := range out {
		if len(c.Args) > 2 && c.Args[2] == p {
			out[i] = nil
		}
	}
	return c.run.list(out)
}

func findElement(c *Call) (datum.Value, error) {
	for i, v := range c.List(0) {
		if err := c.run.step(1); err != nil {
			return nil, err
		}
		if datum.CompareNull(v, c.Args[1]) == 0 {
			return datum.Int(i + 1), nil
		}
	}
	return nil, nil
}

func removeElements(c *Call) (datum.Value, error) {
	if c.Args[0] == nil {
		return nil, nil
	}
	out := datum.List{}
	for _, v := range c.List(0) {
		if datum.CompareNull(v, c.Args[1]) != 0 {
			out = append(out, v)
		}
	}
	return c.run.list(out)
}

func numberElements(c *Call) (datum.Value, error) {
	var out datum.List
	for i, v := range c.List(0) {
		out = append(out, datum.List{v, datum.Int(i + 1)})
	}
	return out, nil
}

func subscripts(c *Call) (datum.Value, error) {
	var out datum.List
	if c.Int(1) == 1 {
		for i := range c.List(0) {
			out = append(out, datum.Int(i+firstIndex(c.Types[0])))
		}
	}
	return out, c.run.take(16 * len(out))
}

func series(c *Call) (datum.Value, error) {
	from, to, by := c.Int(0), c.Int(1), int64(1)
	if len(c.Args) > 2 {
		by = c.Int(2)
	}
	if by == 0 {
		return nil, Fail("22023", "step size cannot equal zero")
	}
	var out datum.List
	for n := from; by > 0 && n <= to || by < 0 && n >= to; n += by {
		out = append(out, datum.Int(n))
		if err := c.run.spend(1, 64); err != nil {
			return nil, err
		}
		if by > 0 && n > math.MaxInt64-by || by < 0 && n < math.MinInt64-by {
			break
		}
	}
	return out, nil
}

var numberFunctions = []Function{
	{"abs|int2abs(int2) int2", absolute(oid.Int2)},
	{"abs|int4abs(int4) int4", absolute(oid.Int4)},
	{"abs|int8abs(int8) int8", absolute(oid.Int8)},
	{"abs|float4abs(float4) float4", mapFloat(math.Abs)}, {"float8abs(float8) float8", mapFloat(math.Abs)},
	{"abs(float8) float8", mapFloat(math.Abs)},
	{"floor(float8) float8", mapFloat(math.Floor)},
	{"ceil|ceiling(float8) float8", mapFloat(math.Ceil)},
	{"round(float8) float8", mapFloat(math.RoundToEven)},
	{"trunc(float8) float8", mapFloat(math.Trunc)},
}

func mapFloat(f func(float64) float64) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) { return datum.Float(f(float(c.Args[0]))), nil }
}

func absolute(t uint32) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		if c.Int(0) >= 0 {
			return c.Args[0], nil
		}
		return computeInt("-", 0, datum.Int(c.Int(0)), t)
	}
}

var timeFunctions = []Function{
	{"now|transaction_timestamp|statement_timestamp|clock_timestamp() timestamptz", func(c *Call) (datum.Value,
		error) {
		return c.run.now(), nil
	}},
	{"to_char(timestamptz,text) text", func(c *Call) (datum.Value, error) {
		// In the one format that there is.
		s, err := c.run.format(c.Args[0], c.Types[0])
		return datum.Text(s), err
	}},
	{"extract(text,timestamptz|timestamp|date) numeric", timePart},
	{"date_part(text,timestamptz|timestamp|date) float8", timePart},
}
