package policy

import (
	"maps"
	"math/big"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/username"
)

// quotaOf returns the part of the dataset's filter that a share or an epsilon is, rounded down.
// Where there is an epsilon it counts, and where there is neither it is everything.
func (d *Dataset) quotaOf(share *big.Rat, epsilon dp.Amount) account.Filter {
	limit := d.Filter().Limit()
	switch {
	case epsilon == 0 && share == nil:
		share = big.NewRat(1, 1)
	case epsilon == 0:
	case d.Budget.Pure():
		return account.PureFilter(min(epsilon, limit.Epsilon))
	default:
		// Under an (epsilon, delta) budget an epsilon is what it is for the dataset: the rho that
		// is worth it at the same delta. Private keys get the same part of what is set aside for
		// them.
		rho := min(d.rhoOf(epsilon), limit.Rho)
		if limit.Rho == 0 {
			return account.Filter{}
		}
		share = new(big.Rat).Quo(rho.Rat(), limit.Rho.Rat())
		if d.Budget.Either() {
			return account.EitherFilter(min(epsilon, limit.Epsilon), rho, part(limit.Delta, share))
		}
		return account.ZCDPFilter(rho, part(limit.Delta, share))
	}
	if d.Budget.Pure() {
		return account.PureFilter(part(limit.Epsilon, share))
	}
	if d.Budget.Either() {
		return account.EitherFilter(part(limit.Epsilon, share), part(limit.Rho, share), part(limit.Delta, share))
	}
	return account.ZCDPFilter(part(limit.Rho, share), part(limit.Delta, share))
}

// rhoOf converts an epsilon at the dataset's delta. What the file names is remembered, because the
// conversion is a search.
func (d *Dataset) rhoOf(epsilon dp.Amount) dp.Amount {
	if rho, ok := d.rhos[epsilon]; ok && d.filterOf == d.Budget {
		return rho
	}
	rho, err := account.Rho(epsilon, d.Budget.RhoDelta())
	if err != nil {
		return 0
	}
	return rho
}

// rememberRho converts an epsilon that the file names.
func (d *Dataset) rememberRho(epsilon dp.Amount) {
	if d.Budget.Pure() {
		return
	}
	if d.rhos == nil {
		d.rhos = map[dp.Amount]dp.Amount{}
	}
	d.rhos[epsilon] = d.rhoOf(epsilon)
}

// part returns the share of an amount, rounded down; nothing where that is not an amount.
func part(a dp.Amount, share *big.Rat) dp.Amount {
	if a == dp.Unbounded {
		return a
	}
	got, err := dp.Floor(new(big.Rat).Mul(a.Rat(), share))
	if err != nil {
		return 0
	}
	return got
}

// readQuota reads share or epsilon, which is everything where neither is given. The noun is whose
// it is.
func (in budgetReader) readQuota(f fields, noun string) (share *big.Rat, epsilon dp.Amount) {
	share = big.NewRat(1, 1)
	s, hasShare := f.get("share")
	e, hasEpsilon := f.get("epsilon")
	switch {
	case hasShare && hasEpsilon:
		in.r.at(e, "the %s has a share and an epsilon, which are two quotas; keep one", noun)
	case hasShare:
		if got, ok := in.readShare(s, noun); ok {
			share = got
		}
	case hasEpsilon:
		if got, ok := in.readEpsilon(e); ok {
			return nil, got
		}
	}
	return share, 0
}

func (in budgetReader) readShare(v element, noun string) (*big.Rat, bool) {
	n, ok := in.r.number(v, "share")
	switch {
	case !ok:
		return nil, false
	case n.Sign() <= 0:
		in.r.at(v, "share %s is not above 0; write a part of the budget such as 0.5, or remove the %s", v.node.Value, noun)
		return nil, false
	case n.Cmp(big.NewRat(1, 1)) > 0:
		in.r.at(v, "share %s is above 1; a share is a part of the dataset's budget, so write a number such as 0.5", v.node.Value)
		return nil, false
	}
	if in.d.hasFilter() && isNothing(in.d.quotaOf(n, 0)) {
		in.r.at(v, "share %s of this budget rounds down to nothing; write a larger share", v.node.Value)
	}
	return n, true
}

func (in budgetReader) readEpsilon(v element) (dp.Amount, bool) {
	n, ok := in.r.amount(v, "epsilon")
	if !ok || !in.d.hasFilter() {
		return 0, false
	}
	if n > in.d.Budget.Epsilon {
		in.r.at(v, "epsilon %s is above the dataset's, %v; a quota is a part of the dataset's budget, so write at most that",
			v.node.Value, in.d.Budget.Epsilon)
		return 0, false
	}
	in.d.rememberRho(n)
	if isNothing(in.d.quotaOf(nil, n)) {
		in.r.at(v, "epsilon %s is too little to spend any of it; write a larger one", v.node.Value)
	}
	return n, true
}

// hasFilter reports whether the budget was read without problems of its own.
func (d *Dataset) hasFilter() bool { return d.filter != (account.Filter{}) }

func isNothing(f account.Filter) bool {
	l := f.Limit()
	return min(l.Epsilon, l.Rho) == 0
}

// Analyst is somebody who may ask.
type Analyst struct {
	Name string
	// Share is the part of the dataset's budget that this analyst may use, above 0 and at most 1;
	// nil where Epsilon says it, or where it is everything. Shares may add up to more than 1: they
	// keep one analyst from spending what others need, while the dataset's own filter keeps the
	// promise to the people in the data.
	Share *big.Rat
	// Epsilon is the quota as an amount, and 0 where Share says it.
	Epsilon dp.Amount
	// Expires is the first day, in UTC, on which the analyst may not ask any more; zero where there
	// is none.
	Expires time.Time
}

// AnalystNames returns the names of the analysts, sorted.
func (d *Dataset) AnalystNames() []string { return slices.Sorted(maps.Keys(d.Analysts)) }

// Quota returns the part of the dataset's filter that the analyst may use, rounded down, and
// whether there is such an analyst. It is a quota and no guarantee of its own: what it admits the
// dataset's filter must admit as well. Where the budget is renewed it is that of one window.
func (d *Dataset) Quota(analyst string) (account.Filter, bool) {
	a, ok := d.Analysts[analyst]
	if !ok {
		return account.Filter{}, false
	}
	return d.quotaOf(a.Share, a.Epsilon), true
}

func (in budgetReader) readAnalysts(f fields) {
	const hint = "nobody may ask unless listed; write for example analysts: {ana: {share: 0.5}, ben: {share: 0.5}}"
	v, ok := f.need(in.r, "analysts", hint)
	if !ok {
		return
	}
	entries, ok := in.r.entries(v, "analysts", "analyst", username.Check)
	if !ok {
		return
	}
	if len(entries) == 0 {
		in.r.at(v, "there are no analysts: %s", hint)
	}
	in.d.Analysts = map[string]*Analyst{}
	for _, e := range entries {
		a := &Analyst{Name: e.name, Share: big.NewRat(1, 1)}
		in.d.Analysts[e.name] = a
		if in.r.isNull(e.element) {
			continue // "ana:" alone is an analyst with the whole budget as quota.
		}
		f, ok := in.r.fields(e.element, e.element.node, "an analyst", analystKeys)
		if !ok {
			continue
		}
		a.Share, a.Epsilon = in.readQuota(f, "analyst")
		if v, given := f.get("expires"); given {
			a.readExpires(in.r, v)
		}
	}
}

func (a *Analyst) readExpires(r *reader, v element) {
	const want = "the first day without access, such as 2027-01-01"
	text, ok := r.text(v, "expires", want)
	if !ok {
		return
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1 {
		r.at(v, "'expires' is %s, which is not a day; write %s", quote(text), want)
		return
	}
	a.Expires = day
}

// Group is analysts who share a quota. What one of them spends is spent for all of them.
type Group struct {
	Name string
	// Share and Epsilon are the quota, as an analyst's are.
	Share   *big.Rat
	Epsilon dp.Amount
	// Analysts are the members, in the order of the file. An analyst may be in several groups, and
	// is then charged in all.
	Analysts []string
}

// maxGroupsOf is in how many groups an analyst may be. A charge names all accounts that it is taken
// from, and a ledger takes 64 of them.
const maxGroupsOf = 60

// GroupNames returns the names of the groups, sorted.
func (d *Dataset) GroupNames() []string { return slices.Sorted(maps.Keys(d.Groups)) }

// GroupsOf returns the names of the groups that list an analyst, sorted.
func (d *Dataset) GroupsOf(analyst string) []string {
	var names []string
	for _, name := range d.GroupNames() {
		if slices.Contains(d.Groups[name].Analysts, analyst) {
			names = append(names, name)
		}
	}
	return names
}

// GroupQuota returns the part of the dataset's filter that the analysts of a group may use
// together; see Quota.
func (d *Dataset) GroupQuota(group string) (account.Filter, bool) {
	g, ok := d.Groups[group]
	if !ok {
		return account.Filter{}, false
	}
	return d.quotaOf(g.Share, g.Epsilon), true
}

// readGroups reads the groups, after the analysts that they list.
func (in budgetReader) readGroups(f fields) {
	v, ok := f.get("groups")
	if !ok {
		return
	}
	entries, ok := in.r.entries(v, "groups", "group", checkShortName)
	if !ok {
		return
	}
	in.d.Groups = map[string]*Group{}
	many := map[string]int{}
	for _, e := range entries {
		g := &Group{Name: e.name, Share: big.NewRat(1, 1)}
		in.d.Groups[e.name] = g
		f, ok := in.r.fields(e.element, e.element.node, "a group", groupKeys)
		if !ok {
			continue
		}
		g.Share, g.Epsilon = in.readQuota(f, "group")
		if v, ok := f.need(in.r, "analysts", "list who is in the group, such as analysts: [ana, ben]"); ok {
			in.readMembers(v, g, many)
		}
	}
}

func (in budgetReader) readMembers(v element, g *Group, many map[string]int) {
	const want = "a list of analysts, such as [ana, ben]"
	switch {
	case v.node.Kind == yaml.AliasNode:
		return // Refused already.
	case v.node.Kind != yaml.SequenceNode:
		in.r.at(v, "'analysts' of a group must be %s, but this is %s", want, kind(v.node))
		return
	case len(v.node.Content) == 0:
		in.r.at(v, "the group has no analysts; write %s, or remove the group", want)
	}
	for _, n := range v.node.Content {
		at := element{node: n, where: v.where}
		name, ok := in.r.text(at, "analysts", "the name of an analyst")
		switch {
		case !ok:
			continue
		case in.d.Analysts == nil:
			continue // They have problems of their own.
		case in.d.Analysts[name] == nil:
			in.r.at(at, "there is no analyst %s; a group takes names from 'analysts' of the dataset%s", quote(name),
				didYouMean(name, in.d.AnalystNames()...))
			continue
		case slices.Contains(g.Analysts, name):
			in.r.at(at, "the analyst %s is listed twice; keep one", quote(name))
			continue
		}
		if many[name]++; many[name] == maxGroupsOf+1 {
			in.r.at(at, "the analyst %s is in more than %d groups; take them out of some", quote(name), maxGroupsOf)
		}
		g.Analysts = append(g.Analysts, name)
	}
}
