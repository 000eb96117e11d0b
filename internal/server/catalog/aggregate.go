package catalog

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// aggregate is a call of an aggregate function in a SELECT.
type aggregate struct {
	name     string
	star     bool
	distinct bool
	args     []*expr
	filter   *expr
	order    []*expr
	keys     []sortKey
	typ      uint32
}

var aggregateNames = map[string]bool{"count": true, "min": true, "max": true, "sum": true, "avg": true, "bool_or": true, "bool_and": true, "every": true,
	"array_agg": true, "string_agg": true, "json_agg": true, "jsonb_agg": true}

// aggregateCall binds an aggregate of this SELECT. Where it is evaluated later, its value is that of the group.
func (s *scope) aggregateCall(name string, f *pg.FuncCall) (*expr, error) {
	if f.Over == nil && !s.aggOK {
		return nil, at(fail("42803", "aggregate functions are not allowed in %s", s.where), f.Location)
	}
	if f.AggWithinGroup {
		return nil, unsupported("WITHIN GROUP")
	}
	a := &aggregate{name: name, star: f.AggStar, distinct: f.AggDistinct}
	agg, win, srf := s.aggOK, s.winOK, s.srfOK
	s.aggOK, s.winOK, s.srfOK = false, false, false
	where := s.where
	s.where = "an aggregate function"
	defer func() { s.aggOK, s.winOK, s.srfOK, s.where = agg, win, srf, where }()
	if s.group != nil && f.Over == nil {
		s.group.off++
		defer func() { s.group.off-- }()
	}
	for _, n := range f.Args {
		x, err := s.expr(n)
		if err != nil {
			return nil, err
		}
		if x.untyped() {
			t := uint32(tText)
			if name == "bool_or" || name == "bool_and" || name == "every" {
				t = tBool
			}
			if x, err = s.b.coerce(x, t); err != nil {
				return nil, err
			}
		}
		a.args = append(a.args, x)
	}
	if f.AggFilter != nil {
		x, err := s.expr(f.AggFilter)
		if err != nil {
			return nil, err
		}
		if a.filter, err = s.b.truth(x, "FILTER"); err != nil {
			return nil, err
		}
	}
	for _, n := range f.AggOrder {
		b := n.GetSortBy()
		x, err := s.expr(b.GetNode())
		if err != nil {
			return nil, err
		}
		a.order, a.keys = append(a.order, x), append(a.keys, sortKeyOf(b))
	}
	wrong := func() error {
		var ts []string
		for _, x := range a.args {
			ts = append(ts, s.b.c.formatType(x.typ, -1))
		}
		return at(fail("42883", "function %s(%s) does not exist", name, strings.Join(ts, ", ")), f.Location)
	}
	n := 1
	if name == "string_agg" {
		n = 2
	}
	if a.star && name != "count" || !a.star && len(a.args) != n {
		return nil, wrong()
	}
	var cols []Column
	switch name {
	case "count":
		a.typ = tInt8
	case "min", "max":
		if a.typ = a.args[0].typ; a.typ == tBool || class(a.typ) == 'r' {
			return nil, wrong()
		}
		if a.typ == tName || a.typ == tVarchar || a.typ == tChar {
			a.typ = tText
		}
	case "sum":
		switch a.args[0].typ {
		case tInt2, tInt4:
			a.typ = tInt8
		case tInt8, tNumeric:
			a.typ = tNumeric
		case tFloat4, tFloat8:
			a.typ = a.args[0].typ
		default:
			return nil, wrong()
		}
	case "avg":
		switch a.args[0].typ {
		case tInt2, tInt4, tInt8, tNumeric:
			a.typ = tNumeric
		case tFloat4, tFloat8:
			a.typ = tFloat8
		default:
			return nil, wrong()
		}
	case "bool_or", "bool_and", "every":
		if a.args[0].typ != tBool {
			return nil, wrong()
		}
		a.typ = tBool
	case "array_agg":
		if a.typ = arrayOf(a.args[0].typ); a.typ == 0 {
			return nil, wrong()
		}
		cols = a.args[0].cols
	case "string_agg":
		for _, x := range a.args {
			if !isString(x.typ) {
				return nil, wrong()
			}
		}
		a.typ = tText
	case "json_agg":
		a.typ = tJSON
	case "jsonb_agg":
		a.typ = tJSONB
	}
	if f.Over != nil {
		return s.windowCall(name, f, a)
	}
	i := len(s.aggs)
	s.aggs = append(s.aggs, a)
	return &expr{typ: a.typ, cols: cols, eval: func(e *env) (any, error) {
		if i < len(e.aggs) {
			return e.aggs[i], nil
		}
		return nil, nil
	}}, nil
}
