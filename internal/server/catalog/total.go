package catalog

import "strings"

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
	if a.name == "array_agg" || a.name == "json_agg" || a.name == "jsonb_agg" {
		if len(rows) == 0 {
			return nil, nil
		}
		out := make([]any, len(rows))
		for i, t := range rows {
			out[i] = t[0]
		}
		if a.name == "array_agg" {
			return r.list(out)
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
		case "sum", "avg":
			if n, ok := v.(int64); ok && a.typ == tInt8 {
				sum, _ := acc.(int64)
				acc = sum + n // int4 summed over at most millions of rows
				continue
			}
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
				return nil, tooLong()
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
