package policy

import (
	"maps"
	"math/big"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
)

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
func (d *Dataset) readGroups(r *reader, f fields) {
	v, ok := f.get("groups")
	if !ok {
		return
	}
	entries, ok := r.entries(v, "groups", "group", checkShortName)
	if !ok {
		return
	}
	d.Groups = map[string]*Group{}
	many := map[string]int{}
	for _, e := range entries {
		g := &Group{Name: e.name, Share: big.NewRat(1, 1)}
		d.Groups[e.name] = g
		f, ok := r.fields(e.place, e.place.node, "a group", groupKeys)
		if !ok {
			continue
		}
		g.Share, g.Epsilon = d.readQuota(r, f, "group")
		if v, ok := f.need(r, "analysts", "list who is in the group, such as analysts: [ana, ben]"); ok {
			d.readMembers(r, v, g, many)
		}
	}
}

func (d *Dataset) readMembers(r *reader, v place, g *Group, many map[string]int) {
	const want = "a list of analysts, such as [ana, ben]"
	switch {
	case v.node.Kind == yaml.AliasNode:
		return // Refused already.
	case v.node.Kind != yaml.SequenceNode:
		r.at(v, "'analysts' of a group must be %s, but this is %s", want, kind(v.node))
		return
	case len(v.node.Content) == 0:
		r.at(v, "the group has no analysts; write %s, or remove the group", want)
	}
	for _, n := range v.node.Content {
		at := place{node: n, where: v.where}
		name, ok := r.text(at, "analysts", "the name of an analyst")
		switch {
		case !ok:
			continue
		case d.Analysts == nil:
			continue // They have problems of their own.
		case d.Analysts[name] == nil:
			r.at(at, "there is no analyst %s; a group lists names that stand under 'analysts' of the dataset%s", quote(name),
				didYouMean(name, d.AnalystNames()...))
			continue
		case slices.Contains(g.Analysts, name):
			r.at(at, "the analyst %s is listed twice; keep one", quote(name))
			continue
		}
		if many[name]++; many[name] == maxGroupsOf+1 {
			r.at(at, "the analyst %s is in more than %d groups; take them out of some", quote(name), maxGroupsOf)
		}
		g.Analysts = append(g.Analysts, name)
	}
}
