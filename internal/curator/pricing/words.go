package pricing

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Tables names the tables below a relation, each once.
func Tables(r tree.Relation) []string {
	var out []string
	var look func(tree.Relation)
	look = func(r tree.Relation) {
		switch r := r.(type) {
		case *tree.Scan:
			if !slices.Contains(out, r.Table.Name) {
				out = append(out, r.Table.Name)
			}
		case *tree.Join:
			look(r.L)
			look(r.R)
		case *tree.Union:
			for _, p := range r.Parts {
				look(p)
			}
		case *tree.Select:
			look(r.From)
		case *tree.Persons:
			look(r.From)
		case *tree.Window:
			look(r.From)
		case *tree.Cut:
			look(r.From)
		}
	}
	look(r)
	return out
}

// bounds says how much of one person counts.
func bounds(q *tree.Query) string {
	if !q.Bounded() {
		return "one person has one row, and is in one group" + appended(SayJoined(q))
	}
	text := fmt.Sprintf("one person counts with at most %s in each of at most %s", count(q.MaxRows(), "row"), count(q.MaxGroups(), "group"))
	if q.Choice != nil {
		text = fmt.Sprintf("one person counts with at most %s in each group", count(q.MaxRows(), "row"))
	}
	return text + appended(SayJoined(q))
}

// SayJoined says how many rows of a person are left where they are joined.
func SayJoined(q *tree.Query) string {
	switch n, set := q.Joined(), q.MaxJoined(); n {
	case 0:
		return ""
	case set:
		return fmt.Sprintf("somebody with more than %d rows is joined with %d of them (max_joined: %d in the policy)", n, n, n)
	default:
		return fmt.Sprintf("somebody with more than %d rows is joined or sorted with %d of them (from max_joined: %d "+
			"in the policy)", n, n, set)
	}
}

// People is how many people there are, where a plan uses that as a number that is public.
func People(p *tree.Plan) *int64 {
	for _, s := range p.Stats {
		if s.People != nil {
			return s.People
		}
	}
	return nil
}

// SayPeople says why a number is exact.
func SayPeople(n int64) string {
	return fmt.Sprintf("how many people there are: %d, exactly; this is public where neighbours replace one person by another", n)
}

// appended puts a sentence behind another, where there is one.
func appended(text string) string {
	if text == "" {
		return ""
	}
	return "; " + text
}

func count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// contribution says in words what one person can add to a measure.
func contribution(q *tree.Query, m tree.Measure) string {
	var in string
	switch {
	case !q.Bounded():
		in = "one person is in one group, with one row"
	case q.Choice != nil || q.Groups() == 1 && len(q.PrivateKeys()) == 0:
		in = fmt.Sprintf("one person counts with at most %s", count(q.MaxRows(), "row"))
	default:
		in = fmt.Sprintf("one person is in at most %s, with at most %s", count(q.MaxGroups(), "group"), count(q.MaxRows(), "row"))
	}
	switch m.Kind {
	case tree.CountPersons:
		in += ", and counts once in each"
	case tree.CountDistinct:
		in += ", each with one value that perhaps nobody else has"
	case tree.Sum:
		lo, hi := m.Arg.Type().Lo, m.Arg.Type().Hi
		each := ""
		if q.MaxRows() > 1 {
			each = " each"
		}
		if m.Most != nil {
			in += fmt.Sprintf(", and adds at most %s to a group", inUnits(m.Most, m))
		} else if lo.Sign() >= 0 {
			in += fmt.Sprintf(" of at most %s%s", inUnits(hi, m), each)
		} else {
			in += fmt.Sprintf(" from %s to %s%s", inUnits(lo, m), inUnits(hi, m), each)
		}
	}
	if q.Neighbours == dp.Substitute {
		in += "; somebody else may be in their place"
	}
	return in
}

func inUnits(n *big.Int, m tree.Measure) string {
	x := new(big.Rat).Mul(new(big.Rat).SetInt(n), m.Step())
	return x.FloatString(Decimals(m.Step()))
}

// measurement explains the release of a measure.
func (p *Priced) measurement(b *Purchase, m tree.Measure, n Noise) api.Measurement {
	step, _ := m.Step().Float64()
	out := api.Measurement{Measure: m.Describe(), Step: m.Step().RatString(), Why: contribution(b.Query, m), Cost: n.cost()}
	if n.Quantiles != nil {
		out.Mechanism, out.Norm, out.Sensitivity = "exponential, on ranks", "each", float64(b.Query.MaxRows())
		for _, q := range n.Quantiles.Parameters() {
			ranks, _ := q.Float64()
			out.Deviation = math.Max(out.Deviation, ranks)
		}
		out.Why += fmt.Sprintf("; one person can change %s, so each group gets 1/%d of the price, and a rank error of at most %.0f",
			count(n.touched, "group"), n.touched, n.Quantiles.RankError(p.Beta()))
		return out
	}
	if n.Decides {
		out.Why += "; it decides which keys are shown, and is released and paid for with them"
	}
	if b.Cube != nil {
		out.Cost = dp.Cost{Epsilon: dp.Unbounded, Rho: n.Cost().Rho / dp.Amount(len(b.Cube.Members))}
		out.Why += "; " + b.Cube.why(b)
	}
	if n.Running != nil {
		out.Why += "; " + n.sayRunning(p.Beta(), step)
	}
	for _, pair := range b.Twins {
		if b.Query.Measures[pair[0]].Format() == m.Format() || b.Query.Measures[pair[1]].Format() == m.Format() {
			out.Why += "; one person moves this sum and its twin together by that, so both are released as one vector, at one price"
		}
	}
	half := float64(n.HalfWidth(p.Beta())) * step
	out.Mechanism, out.Norm, out.Error = n.Name(), n.Norm().String(), &half
	out.Sensitivity = n.Sensitivity().Float() * step
	out.Deviation = scaleOf(n.Parameter(), n.Norm()) * step
	return out
}

func scaleOf(parameter *big.Rat, norm dp.Norm) float64 {
	f, _ := parameter.Float64()
	if norm == dp.L2 {
		f = math.Sqrt(f)
	}
	return f
}

func (p *Priced) chosen(b *Purchase) api.Measurement {
	m, each := b.Query.Measures[0], b.Choice.Top.Selector()
	step, _ := m.Step().Float64()
	scale, _ := each.Parameter().Float64()
	gap := float64(each.Gap(b.Query.Groups(), p.Beta())) * step
	return api.Measurement{
		Measure:   fmt.Sprintf("the %s with the best %s", count(int64(b.Query.Choice.K), "group"), m.Describe()),
		Mechanism: b.Choice.Top.Name(), Sensitivity: float64(each.Scoring().Sensitivity) * step, Norm: "each", Step: m.Step().RatString(),
		Deviation: scale * step, Cost: b.Choice.Top.Cost(),
		Why: contribution(b.Query, m) + "; " + b.Choice.why +
			fmt.Sprintf("; each one chosen is within %.6g of the best one left, with probability %v", gap, p.Settings.Level()),
	}
}

// keyMeasurement explains the release of private keys.
func (p *Priced) keyMeasurement(b *Purchase) api.Measurement {
	names := make([]string, 0, len(b.Query.PrivateKeys()))
	for _, k := range b.Query.PrivateKeys() {
		names = append(names, k.Describe())
	}
	out := api.Measurement{
		Measure: "the private keys of " + strings.Join(names, ", "), Step: "1", Norm: "each", Sensitivity: 1, Mechanism: "key selection",
		Cost: b.Keys.cost(),
		Why: fmt.Sprintf("one person is counted in at most %s; %s; a key that only one person has is shown with probability %v at most",
			count(b.Query.MaxGroups(), "combination"), b.Keys.why, b.Keys.cost().Delta),
	}
	if w := b.Keys.Weights; w != nil {
		n := w.Noise()
		out.Mechanism, out.Norm = "weights, "+n.Name(), n.Norm().String()
		one := float64(w.StepsAlone())
		out.Sensitivity, out.Deviation = n.Sensitivity().Float()/one, scaleOf(n.Parameter(), n.Norm())/one
	}
	if t := b.Keys.Threshold; t != nil {
		n := t.Noise()
		out.Mechanism, out.Norm = "threshold, "+n.Name(), n.Norm().String()
		out.Sensitivity, out.Deviation = n.Sensitivity().Float(), scaleOf(n.Parameter(), n.Norm())
	}
	return out
}

// keyInquiry says which values of a key are shown.
func keyInquiry(k tree.Key, b *Purchase) api.KeyInquiry {
	out := api.KeyInquiry{Key: k.Describe(), Private: k.Private, Values: len(k.Values)}
	switch {
	case k.Private && b.Keys.Threshold != nil:
		t := b.Keys.Threshold
		edge, _ := t.EdgeProbability().Float64()
		out.Rule = fmt.Sprintf("private: a key is shown when its noisy number of people is at least %d, and at %d with probability %.2f; "+
			"about %d people are enough", t.Threshold(), t.Threshold()-1, edge, b.Keys.KeptFrom())
	case k.Private && b.Keys.Weights != nil:
		out.Rule = fmt.Sprintf("private: a key is shown when the people who have it weigh enough; about %d people do, and fewer where "+
			"they have few other keys", b.Keys.KeptFrom())
	case k.Private:
		out.Rule = fmt.Sprintf("private: a key is shown when about %d people have it", b.Keys.KeptFrom())
	default:
		out.Rule = "public: " + publicRule(k)
	}
	return out
}

func publicRule(k tree.Key) string {
	c, ok := k.Expr.(*tree.Column)
	switch {
	case !ok:
		return "all values that the expression can have"
	case c.Field.Public != "":
		return "values of the public table " + c.Field.Public
	case c.Field.Source == nil:
		return "all values that the column can have"
	case c.Field.Source.Keys == policy.PublicKeys && len(k.Values) == len(c.Field.Source.KeyValues):
		return "listed by the owner"
	case c.Field.Source.Keys == policy.PublicKeys:
		return "listed by the owner, and among those that WHERE names"
	case c.Field.Source.CountPublicValues() == len(k.Values) && c.Field.Source.Bounds != nil:
		return "all values within its bounds, " + c.Field.Source.ShowBounds()
	case c.Field.Source.CountPublicValues() == len(k.Values):
		return "all values that the column can have"
	}
	return "those that WHERE names"
}

func (p *Priced) Inquiry(b *Purchase) api.Inquiry {
	q := b.Query
	out := api.Inquiry{
		Tables: Tables(q.From), Keys: []api.KeyInquiry{}, Groups: q.Groups(), MaxRows: q.MaxRows(), MaxGroups: q.MaxGroups(),
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
	out.Averages = averages(p, b)
	return out
}

// NoError says why dp.error cannot be set; empty where it can.
func NoError(p *Priced) string {
	var r *api.Refusal
	expecting := &Priced{Statement: p.Statement, Settings: api.Settings{Values: 1}} // that can be said too
	if errors.As(expecting.refuseUnknownErrors(), &r) {
		return r.Reason
	}
	return ""
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
	if p.raised && hasAverages(p.Statement) {
		return fmt.Sprintf("the error asked for would cost less than any question costs here; the least %s for a question is shared "+
			"equally", unit)
	}
	if p.raised {
		return fmt.Sprintf("the error asked for would cost less than any question costs here; the least %s for a question is shared "+
			"in proportion to what each count and sum needs, and makes them more exact", unit)
	}
	if p.Settings.Error != nil && hasAverages(p.Statement) {
		return fmt.Sprintf("the least %s, in equal shares, at which averages of %d values have about the error asked for", unit,
			p.Settings.Values)
	}
	if p.Settings.Error != nil {
		return fmt.Sprintf("each count and sum pays the least %s that gives the error asked for", unit)
	}
	if p.paidCount() == 0 {
		for _, one := range p.Statement.Plans {
			if len(one.Query.Keys) == 0 {
				return "nothing is released: public numbers are free"
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
	if p.paidCount() > 1 {
		text = fmt.Sprintf("%d %s share %s equally, and ", p.paidCount(), p.parts(), unit)
	}
	if shares == p.paidCount() && text == "" {
		return "one release takes the whole price"
	}
	return text + fmt.Sprintf("the releases of a question share its %s equally, which makes the largest error, counted in people, as "+
		"small as possible", unit)
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
	text := fmt.Sprintf("%d groupings of %s: each of the residuals that they are made of gets the share of %s that makes the sum of "+
		"the variances of all numbers as small as possible", together, of, unit)
	if more := p.paidCount() - together; more > 0 {
		text += fmt.Sprintf("; %s by themselves each get as much of the price as a grouping", count(int64(more), "question"))
	}
	return text
}

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
