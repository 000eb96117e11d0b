package interpret

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// arrayFunctions are the functions that make arrays of arrays of one dimension.
var arrayFunctions = []Function{
	{"lax array_append(anyarray,any) anyarray", func(c *Call) (datum.Value, error) { return c.joined(c.List(0), datum.List{c.Args[1]}) }},
	{"lax array_prepend(any,anyarray) anyarray", func(c *Call) (datum.Value, error) { return c.joined(datum.List{c.Args[0]}, c.List(1)) }},
	{"lax array_cat(anyarray,anyarray) anyarray", func(c *Call) (datum.Value, error) {
		if c.Args[0] == nil && c.Args[1] == nil {
			return nil, nil
		}
		return c.joined(c.List(0), c.List(1))
	}},
	{"lax array_positions(anyarray,any) int4[]", positions},
	{"lax array_position(anyarray,any,int4) int4", positionFrom},
	{"lax array_replace(anyarray,any,any) anyarray", replaceElements},
	{"array_ndims(anyarray) int4", func(c *Call) (datum.Value, error) {
		if len(c.List(0)) == 0 {
			return nil, nil
		}
		return datum.Int(1), nil
	}},
	{"array_dims(anyarray) text", func(c *Call) (datum.Value, error) {
		if len(c.List(0)) == 0 {
			return nil, nil
		}
		first := firstIndex(c.Types[0])
		return datum.Text(fmt.Sprintf("[%d:%d]", first, len(c.List(0))-1+first)), nil
	}},
	{"trim_array(anyarray,int4) anyarray", func(c *Call) (datum.Value, error) {
		l, n := c.List(0), c.Int(1)
		if n < 0 || n > int64(len(l)) {
			return nil, Fail("2202E", "number of elements to trim must be between 0 and %d", len(l))
		}
		return c.run.list(l[:len(l)-int(n)])
	}},
	{"generate_subscripts(anyarray,int4,bool) setof int4", func(c *Call) (datum.Value, error) {
		v, err := subscripts(c)
		out, _ := v.(datum.List)
		if c.Args[2] == datum.True {
			for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
				out[i], out[j] = out[j], out[i]
			}
		}
		return out, err
	}},
}

// joined is an array of the elements of two.
func (c *Call) joined(a, b datum.List) (datum.Value, error) {
	if err := c.run.take(16 * (len(a) + len(b))); err != nil {
		return nil, err
	}
	out := make(datum.List, 0, len(a)+len(b))
	return c.run.list(append(append(out, a...), b...))
}

// matchingElements calls found with the index of each element from one on that is a value, until it
// returns false.
func (c *Call) matchingElements(from int, found func(i int) bool) error {
	l := c.List(0)
	for i := max(0, from); i < len(l); i++ {
		if err := c.run.step(1 + min(datum.Weight(l[i]), datum.Weight(c.Args[1]))); err != nil {
			return err
		}
		if datum.CompareNull(l[i], c.Args[1]) == 0 && !found(i) {
			return nil
		}
	}
	return nil
}

func positions(c *Call) (datum.Value, error) {
	if c.Args[0] == nil {
		return nil, nil
	}
	out := datum.List{}
	err := c.matchingElements(0, func(i int) bool {
		out = append(out, datum.Int(i+1))
		return true
	})
	if err != nil {
		return nil, err
	}
	return c.run.list(out)
}

func positionFrom(c *Call) (found datum.Value, err error) {
	if c.Args[0] == nil {
		return nil, nil
	}
	if c.Args[2] == nil {
		return nil, Fail("22004", "initial position must not be null")
	}
	err = c.matchingElements(int(c.Int(2))-1, func(i int) bool {
		found = datum.Int(i + 1)
		return false
	})
	return found, err
}

func replaceElements(c *Call) (datum.Value, error) {
	if c.Args[0] == nil {
		return nil, nil
	}
	if err := c.run.take(16 * len(c.List(0))); err != nil {
		return nil, err
	}
	out := append(datum.List(nil), c.List(0)...)
	if err := c.matchingElements(0, func(i int) bool {
		out[i] = c.Args[2]
		return true
	}); err != nil {
		return nil, err
	}
	return c.run.list(out)
}

// elementType settles the type of an element beside an array: a literal is one of the array's.
func elementType(x *expr, args []*expr) uint32 {
	for _, a := range args {
		if t := oid.Elem(a.typ); t != 0 && a != x {
			return t
		}
	}
	return oid.Text
}
