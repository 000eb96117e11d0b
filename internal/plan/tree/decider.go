package tree

// Decider returns the measure that decides which combinations of private keys are shown, or -1
// where people are counted for that alone, beside what is shown.
//
// A key is shown where enough people have it. Where the question asks how many that are, the
// number that is shown is the number that decides, and it is released once (mech.KeyThreshold,
// which says why that is private). So it has to be a number to which a person adds 0 or 1, to at
// most MaxGroups groups: the people of a group, or its rows where nobody counts with more than one.
// Noise and threshold are calibrated to that, which is [Query.Interval] and [Query.Sensitivity] as
// for every measure: what a person adds is clamped to it, and derived a second time
// (internal/plan/verify).
//
// Three that look alike do not decide. COUNT(x), and what has a FILTER, is 0 in groups whose people
// have no x: they would be left out where SQL shows a 0. Where there are public keys too a
// combination of private ones has several such numbers, and all of them are shown or none. Of
// several rows a person the number of rows is not one of people: the threshold would have to be as
// high as if all people had all of them.
func (q *Query) Decider() int {
	if q.Choice != nil || len(q.PrivateKeys()) == 0 || q.Groups() != 1 {
		return -1
	}
	for i, m := range q.Measures {
		if m.Arg != nil || m.Kind != CountRows && m.Kind != CountPersons {
			continue
		}
		if lo, hi := q.Interval(m); lo.Sign() == 0 && hi.Cmp(One.Num()) == 0 {
			return i
		}
	}
	return -1
}

// Weighs reports whether an engine says which combinations of private keys each person is in, and
// not only how many people each has: where somebody can be in several, and no count decides, people
// are weighed (mech.KeyWeights).
func (q *Query) Weighs() bool {
	return len(q.PrivateKeys()) > 0 && q.MaxGroups() > 1 && q.Bounded() && q.Decider() < 0
}
