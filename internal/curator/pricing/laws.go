package pricing

import "github.com/discreet-dp/discreet/dp/mech"

// MostLaws is how many laws of averages ([mech.RatioLaw]) are computed for one answer, with all its
// grouping sets, and for one try of a price. Each takes some milliseconds, and a text may ask for
// thousands. The averages beyond have the bars that half widths give, which hold as well and are
// wider.
const MostLaws = 16

// Laws are those that were asked for first. They are counted where they are known from before, too,
// so that which averages have the narrow bars follows from the plan and its noise, and not from
// what others asked.
type Laws map[mech.RatioLaw]bool

// Admit reports whether a law may be computed.
func (l Laws) Admit(law mech.RatioLaw) bool {
	switch {
	case law.IsSimple():
		return false
	case !l[law] && len(l) >= MostLaws:
		return false
	}
	l[law] = true
	return true
}
