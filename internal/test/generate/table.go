package generate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// Table makes rows to train on: a SELECT, and the target.
func (m *Maker) Table(d Dice) (features, target string) {
	q := &question{Maker: m, d: d}
	depth := 2
	if m.sharp {
		depth = d.Below(2)
	}
	s := q.sources().from(depth)
	where := ""
	if d.One(3) {
		where = q.exprs().expr(s, truth, 1+d.Below(2))
	}
	once := func() string {
		switch d.Below(6) {
		case 0:
			return q.exprs().expr(s, truth, 1)
		case 1:
			return q.exprs().expr(s, date, d.Below(2))
		case 2, 3:
			return q.exprs().expr(s, number, d.Below(3))
		case 4:
			if c, ok := q.column(s, words); ok && q.bold() {
				return c.ref
			}
		}
		k, condition, ok := q.exprs().key(s)
		if !ok {
			return q.exprs().expr(s, words, 1)
		}
		if condition != "" && where != "" {
			where = "(" + where + ") AND "
		}
		where += condition
		return k
	}
	pick := func() string {
		x := once()
		for range 4 { // constants are refused
			if slices.ContainsFunc(s.columns, func(c column) bool { return strings.Contains(x, c.ref) }) {
				break
			}
			x = once()
		}
		return x
	}
	var list []string
	for range 1 + d.Below(4) {
		list = append(list, pick())
	}
	list = named(q, list)
	target = pick() + " AS " + q.name()
	if len(list) > 1 && d.One(3) {
		last := detrand.Pick(d, list)
		target = last[strings.LastIndexByte(last, ' ')+1:]
	}
	features = "SELECT " + strings.Join(list, ", ") + " FROM " + s.text
	if where != "" {
		features += " WHERE " + where
	}
	return features, target
}

// Holdout makes a question to a holdout of the dataset, which has one.
func (m *Maker) Holdout(d Dice) string {
	q := &question{Maker: m, d: d}
	h := m.dataset.Holdouts[detrand.Pick(d, slices.Sorted(maps.Keys(m.dataset.Holdouts)))]
	s := q.table(h.Table)
	var text string
	for depth := 3; depth > 0; depth-- {
		x := q.exprs().expr(s, truth, depth)
		if d.One(2) {
			x = fmt.Sprintf("greatest(0, least(1, round(%s, 2)))", q.exprs().expr(s, detrand.Pick(d, []kind{number, float}), depth))
		}
		text = "SELECT holdout_mean(" + x + ") FROM " + s.text
		if _, err := planner.PrepareHoldout(m.dataset, syntax.Open(text, nil), "", m.options); err == nil {
			break
		}
	}
	return text
}
