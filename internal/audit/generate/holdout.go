package generate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
)

// Holdout makes a question to a holdout of the dataset, which has one.
func (m *Maker) Holdout(d Dice) string {
	q := &question{Maker: m, d: d}
	h := m.dataset.Holdouts[detrand.Pick(d, slices.Sorted(maps.Keys(m.dataset.Holdouts)))]
	s := q.table(h.Table)
	var text string
	for depth := 3; depth > 0; depth-- {
		x := q.expr(s, truth, depth)
		if d.One(2) {
			x = fmt.Sprintf("greatest(0, least(1, round(%s, 2)))", q.expr(s, detrand.Pick(d, []kind{number, float}), depth))
		}
		text = "SELECT holdout_mean(" + x + ") FROM " + s.text
		if _, err := plan.PrepareHoldout(m.dataset, syntax.Open(text, nil), "", m.options); err == nil {
			break
		}
	}
	return text
}
