package pricing

import (
	"fmt"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Inquiry explains one purchase.
func (p *Priced) Inquiry(b *Purchase) api.Inquiry {
	q := b.Query
	out := api.Inquiry{
		Tables: tables(q.From), Keys: []api.KeyInquiry{}, Groups: q.Groups(), MaxRows: q.MaxRows(), MaxGroups: q.MaxGroups(),
		Bounds: bounds(q), Measures: []api.Measurement{}, Cost: b.Cost(),
	}
	for _, k := range q.Keys {
		out.Keys = append(out.Keys, keyInquiry(k, b))
	}
	if b.Choice != nil {
		out.Chosen = q.Choice.K
		out.Measures = append(out.Measures, p.chosen(b))
		return out
	}
	for i, m := range q.Measures {
		out.Measures = append(out.Measures, p.measurement(b, m, b.Noise[i]))
	}
	if b.Keys != nil {
		out.Measures = append(out.Measures, p.keyMeasurement(b))
	}
	return out
}

// Split says how the price is divided.
func (p *Priced) Split() string {
	unit := "rho"
	if p.Currency.Pure {
		unit = "epsilon"
	}
	if len(p.Purchases) == 0 {
		return "nothing is bought: public tables are about nobody"
	}
	if p.raised {
		return fmt.Sprintf("the error asked for would cost less than a question may; the least %s that one costs here is shared in "+
			"proportion to what each count and sum needs, and makes them more exact", unit)
	}
	if p.Settings.Error != nil {
		return fmt.Sprintf("each count and sum pays the least %s that has the error asked for", unit)
	}
	if p.paid() == 0 {
		for _, one := range p.Statement.Plans {
			if len(one.Query.Keys) == 0 {
				return "nothing is released: what is public is free"
			}
		}
		return "nothing is released: public keys are free"
	}
	if text := p.splitCubes(unit); text != "" {
		return text
	}
	shares, text := 0, ""
	for _, b := range p.Purchases {
		shares += b.shares()
	}
	if p.paid() > 1 {
		text = fmt.Sprintf("%d %s share %s equally, and ", p.paid(), p.parts(), unit)
	}
	if shares == p.paid() && text == "" {
		return "one release takes the whole price"
	}
	return text + fmt.Sprintf("the releases of a question share its %s equally, which makes the largest error, counted in people, as "+
		"small as it can be", unit)
}

// splitCubes says how the price of groupings is divided that are released together; nothing where
// there are none.
func (p *Priced) splitCubes(unit string) string {
	together := 0
	for _, b := range p.Purchases {
		if b.Cube != nil {
			together++
		}
	}
	if together == 0 {
		return ""
	}
	of := "one question are released together, from one table"
	if n := len(p.cubes()); n > 1 {
		of = fmt.Sprintf("%d questions are released together, those of a question from one table", n)
	}
	text := fmt.Sprintf("%d groupings of %s: each of the residuals that they are made of has the share of %s that makes the variances of "+
		"all numbers, added up, as small as they can be", together, of, unit)
	if more := p.paid() - together; more > 0 {
		text += fmt.Sprintf("; %s by themselves have as much of the price each as a grouping", count(int64(more), "question"))
	}
	return text
}

// parts says what shares a price.
func (p *Priced) parts() string {
	for _, one := range p.Statement.Plans[1:] {
		if !one.Continues {
			return "questions"
		}
	}
	return "groupings of one question"
}

// Free lists what the statement does after the noise.
func (p *Priced) Free() []string {
	var out []string
	add := func(has bool, what string) {
		if has {
			out = append(out, what)
		}
	}
	var having, order, limit, distinct, computed, chosen bool
	for _, one := range p.Statement.Plans {
		having = having || one.Having != nil
		order = order || len(one.Order) > 0
		limit = limit || (one.Limit != nil || one.Offset > 0) && one.Query.Choice == nil
		distinct = distinct || one.Distinct
		chosen = chosen || len(one.Within) > 0
		for _, s := range one.Stats {
			computed = computed || s.Kind == tree.AverageStat || s.Kind == tree.VarianceStat
		}
	}
	add(computed, "averages and variances, from noisy counts and sums")
	for _, one := range p.Statement.Plans {
		if n := People(one); n != nil {
			out = append(out, SayPeople(*n))
			break
		}
	}
	add(chosen, "which groups are shown, by another answer")
	add(having, "HAVING")
	add(order, "ORDER BY")
	add(limit, "LIMIT and OFFSET")
	add(distinct, "DISTINCT")
	add(p.Statement.Outer != nil, "the query around the answers")
	add(true, "asking it again")
	return out
}
