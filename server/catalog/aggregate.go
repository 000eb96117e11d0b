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
		for i, x := range a.args {
			if !isString(x.typ) {
				return nil, wrong()
			}
			a.args[i] = x
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

// groupRows makes a row of each group: the first of its rows, and the values of the aggregates.
func (s *scope) groupRows(e *env, list []state, by []*expr, one bool, base []tuple) ([]state, error) {
	r := e.run
	var order []string
	groups := map[string][]state{}
	if one {
		order, groups[""] = []string{""}, list
	} else {
		for _, st := range list {
			st.enter(e)
			t, err := evalAll(e, by)
			if err != nil {
				return nil, err
			}
			k, err := r.rowKey(t)
			if err != nil {
				return nil, err
			}
			if _, ok := groups[k]; !ok {
				order = append(order, k)
			}
			groups[k] = append(groups[k], st)
		}
	}
	out := make([]state, 0, len(order))
	for _, k := range order {
		members := groups[k]
		g := state{row: base}
		if len(members) > 0 {
			g.row = members[0].row
		}
		for _, a := range s.aggs {
			v, err := a.over(e, members)
			if err != nil {
				return nil, err
			}
			g.aggs = append(g.aggs, v)
		}
		if err := r.take(48 + 16*len(g.aggs)); err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// over computes an aggregate of some rows.
func (a *aggregate) over(e *env, members []state) (any, error) {
	r := e.run
	var rows, keys []tuple
	seen := map[string]bool{}
	for i := range members {
		members[i].enter(e)
		if a.filter != nil {
			v, err := a.filter.eval(e)
			if err != nil {
				return nil, err
			}
			if v != true {
				continue
			}
		}
		t, err := evalAll(e, a.args)
		if err != nil {
			return nil, err
		}
		if a.distinct {
			k, err := r.rowKey(t)
			if err != nil {
				return nil, err
			}
			if seen[k] {
				continue
			}
			seen[k] = true
		}
		k, err := evalAll(e, a.order)
		if err != nil {
			return nil, err
		}
		rows, keys = append(rows, t), append(keys, k)
	}
	var err error
	switch {
	case len(a.keys) > 0:
		if rows, _, err = sortRows(r, rows, keys, a.keys); err != nil {
			return nil, err
		}
	case a.distinct && len(a.args) > 0:
		if rows, _, err = sortRows(r, rows, rows, make([]sortKey, 1)); err != nil {
			return nil, err
		}
	}
	if a.star {
		return int64(len(rows)), nil
	}
	if a.name == "array_agg" {
		if len(rows) == 0 {
			return nil, nil
		}
		out := make([]any, len(rows))
		for i, t := range rows {
			out[i] = t[0]
		}
		return r.list(out)
	}
	if a.name == "json_agg" || a.name == "jsonb_agg" {
		if len(rows) == 0 {
			return nil, nil
		}
		out := make([]any, len(rows))
		for i, t := range rows {
			out[i] = t[0]
		}
		return r.json(out, arrayOf(a.args[0].typ))
	}
	var acc any
	count := int64(0)
	var b strings.Builder
	for _, t := range rows {
		v := t[0]
		if v == nil {
			continue
		}
		count++
		switch a.name {
		case "min":
			if acc == nil || compare(v, acc) < 0 {
				acc = v
			}
		case "max":
			if acc == nil || compare(v, acc) > 0 {
				acc = v
			}
		case "bool_or":
			acc = acc == true || v == true
		case "bool_and", "every":
			acc = (acc == nil || acc == true) && v == true
		case "sum":
			if n, ok := v.(int64); ok && a.typ == tInt8 {
				sum, _ := acc.(int64)
				acc = sum + n // int4 summed over at most millions of rows
				continue
			}
			sum, _ := acc.(float64)
			acc = sum + toFloat(v)
		case "avg":
			sum, _ := acc.(float64)
			acc = sum + toFloat(v)
		case "string_agg":
			if count > 1 {
				sep, _ := t[1].(string)
				b.WriteString(sep)
			}
			s, _ := v.(string)
			b.WriteString(s)
			if b.Len() > maxString {
				return nil, fail("54000", "a text is longer than %d bytes", maxString)
			}
		}
	}
	switch {
	case a.name == "count":
		return count, nil
	case count == 0:
		return nil, nil
	case a.name == "avg":
		return acc.(float64) / float64(count), nil
	case a.name == "string_agg":
		return r.text(b.String())
	}
	return acc, nil
}

func toFloat(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}
