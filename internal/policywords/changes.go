package policywords

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/policy"
)

// Changes says what is different in a policy that follows another one while a server runs (see
// [policy.CheckReload]), and what that means.
func Changes(was, is *policy.Policy) []api.PolicyChange {
	all := []api.PolicyChange{}
	for _, name := range is.Names() {
		c := comparison{was: was.Datasets[name], is: is.Datasets[name]}
		if policy.Same(c.was, c.is) {
			continue
		}
		c.budget()
		c.people()
		c.views()
		for _, table := range c.is.TableNames() {
			c.table(c.was.Tables[table], c.is.Tables[table])
		}
		if len(c.found) == 0 {
			c.add("order of entries", "", "", "tables, columns or views are listed in another order")
		}
		all = append(all, c.found...)
	}
	return all
}

// comparison collects what two policies say differently about a dataset.
type comparison struct {
	was, is *policy.Dataset
	found   []api.PolicyChange
}

func (c *comparison) add(what, was, is, means string) {
	c.found = append(c.found, api.PolicyChange{Dataset: c.is.Name, What: what, Was: was, Is: is, Means: means})
}

// differ adds a change where two texts differ.
func (c *comparison) differ(what, was, is, means string) {
	if was != is {
		c.add(what, was, is, means)
	}
}

func (c *comparison) budget() {
	a, b := c.was.Budget, c.is.Budget
	for _, e := range []struct {
		key, means string
		was, is    dp.Amount
	}{
		{"default", "a question that names no price takes this", a.DefaultEpsilon, b.DefaultEpsilon},
		{"max", "the most that one question may take", a.MaxEpsilon, b.MaxEpsilon},
		{"min", "the least that one question may take", a.MinEpsilon, b.MinEpsilon},
		{"delta", "what a question with private keys takes", a.DefaultDelta, b.DefaultDelta},
	} {
		c.differ("per_query "+e.key, e.was.String(), e.is.String(), e.means)
	}
	c.differ("max_fanout", fmt.Sprint(c.was.Fanout()), fmt.Sprint(c.is.Fanout()), "how much longer one row can make a question")
	c.differ("existence", existence(c.was), existence(c.is), "how questions whether there are rows are answered, for the price of a count")
	if fmt.Sprint(sizes(c.was)) != fmt.Sprint(sizes(c.is)) {
		c.add("sizes", "", "", "when answers leave follows from the new sizes; ticks stay until a restart")
	}
}

// existence is the threshold, or empty where there is none.
func existence(ds *policy.Dataset) string {
	if ds.Existence == 0 {
		return ""
	}
	return fmt.Sprint(ds.Existence)
}

func sizes(ds *policy.Dataset) policy.Sizes {
	if ds.Sizes == nil {
		return policy.Sizes{}
	}
	return *ds.Sizes
}

func (c *comparison) people() {
	const part = "a part of the same budget; what was spent stays spent"
	for _, name := range names(c.was.Analysts, c.is.Analysts) {
		old, next := c.was.Analysts[name], c.is.Analysts[name]
		switch {
		case old == nil:
			c.add("analyst "+name, "", quota(next.Share, next.Epsilon), "may ask, out of the same budget")
		case next == nil:
			c.add("analyst "+name, quota(old.Share, old.Epsilon), "",
				"gets no more answers, not even free ones; what was spent stays spent")
		default:
			c.differ("quota of "+name, quota(old.Share, old.Epsilon), quota(next.Share, next.Epsilon), part)
			c.differ("last day of "+name, day(old), day(next), "when access ends")
		}
	}
	for _, name := range names(c.was.Groups, c.is.Groups) {
		old, next := c.was.Groups[name], c.is.Groups[name]
		switch {
		case old == nil:
			c.add("group "+name, "", quota(next.Share, next.Epsilon),
				"limits "+strings.Join(next.Analysts, ", ")+" together from now on; counts no earlier charge")
		case next == nil:
			c.add("group "+name, quota(old.Share, old.Epsilon), "", "its members are limited by their own quotas")
		default:
			c.differ("quota of the group "+name, quota(old.Share, old.Epsilon), quota(next.Share, next.Epsilon), part)
			c.differ("members of the group "+name, strings.Join(old.Analysts, ", "), strings.Join(next.Analysts, ", "),
				"charges count from now on for those who came")
		}
	}
}

// quota is a part of the budget, as the policy says it.
func quota(share *big.Rat, epsilon dp.Amount) string {
	switch {
	case epsilon != 0:
		return "epsilon " + epsilon.String()
	case share == nil || share.Cmp(big.NewRat(1, 1)) == 0:
		return "the whole budget"
	}
	return "share " + grain(share)
}

func day(a *policy.Analyst) string {
	if a.Expires.IsZero() {
		return "never"
	}
	return a.Expires.AddDate(0, 0, -1).Format("2006-01-02")
}

func (c *comparison) views() {
	for _, name := range names(c.was.Views, c.is.Views) {
		old, before := c.was.Views[name]
		next, after := c.is.Views[name]
		switch {
		case !before:
			c.add("view "+name, "", "new", "can be used like a table; protects nothing")
		case !after:
			c.add("view "+name, "", "gone", "cannot be used any more")
		case old != next:
			c.add("view "+name, "", "another text", "questions that use it are other questions, with prices of their own")
		}
	}
}

func (c *comparison) table(was, is *policy.Table) {
	at := " of " + is.Name
	c.differ("max_rows"+at, limit(was.MaxRows, was.AutoRows), limit(is.MaxRows, is.AutoRows),
		limitMeans(was.AutoRows, is.AutoRows, is.MaxRows, scaled("noise of counts and sums", ratio(was.MaxRows, is.MaxRows))))
	c.differ("max_groups"+at, limit(was.MaxGroups, was.AutoGroups), limit(is.MaxGroups, is.AutoGroups),
		limitMeans(was.AutoGroups, is.AutoGroups, is.MaxGroups, "how many groups one person counts in; more groups mean more noise"))
	c.differ("max_joined"+at, fmt.Sprint(was.Joined()), fmt.Sprint(is.Joined()), "how many rows of a person joins can use")
	c.differ("limits_from"+at, from(was.LimitsFromData), from(is.LimitsFromData),
		"whether max_rows and max_groups were chosen by looking at the data")
	for _, name := range names(was.Columns, is.Columns) {
		old, next := was.Columns[name], is.Columns[name]
		column := is.Name + "." + name
		switch {
		case old == nil:
			c.add("column "+column, "", describe(is, next), "analysts can ask about it")
		case next == nil:
			c.add("column "+column, describe(was, old), "", "cannot be asked about any more; answers that were given stay given")
		default:
			c.column(" of "+column, old, next)
			c.differ("spelling of "+column, spelt(was.CSV.Column(name)), spelt(is.CSV.Column(name)),
				"the file is read in another way")
		}
	}
}

// spelt says how the values of a column are spelt in a file.
func spelt(s policy.Spelt) string {
	if len(s.Nulls) == 0 {
		return s.Format
	}
	return strings.TrimSpace(fmt.Sprintf("%s nulls %q", s.Format, s.Nulls))
}

// describe says what can be asked of a column.
func describe(of *policy.Table, column *policy.Column) string {
	asked := Column(of, column)
	text := asked.Type
	if column.Bounds != nil {
		text += " " + asked.Bounds
	}
	if asked.Keys != "-" {
		text += ", keys " + asked.Keys
	}
	return text
}

func (c *comparison) column(at string, was, is *policy.Column) {
	c.differ("type"+at, was.Type.String(), is.Type.String(), "values are read as another type")
	c.differ("nullable"+at, fmt.Sprint(was.Nullable), fmt.Sprint(is.Nullable), "whether answers allow for NULL")
	c.differ("granularity"+at, grain(was.Granularity), grain(is.Granularity), "values are rounded to other steps")
	c.differ("bounds"+at, bounds(was), bounds(is), c.boundsMean(was, is))
	c.differ("max_sum"+at, grain(was.MaxSum), grain(is.MaxSum), "what one person adds to a sum at most")
	c.differ("bounds_from"+at, from(was.BoundsFromData), from(is.BoundsFromData), "whether the bounds were read off the data")
	if was.Keys != is.Keys || !slices.Equal(was.KeyValues, is.KeyValues) {
		c.add("keys"+at, keys(was), keys(is), keysMean(was, is))
	}
}

func bounds(c *policy.Column) string {
	if c.Bounds == nil {
		return ""
	}
	return c.Show(c.Bounds.LoSteps) + " .. " + c.Show(c.Bounds.HiSteps)
}

func keys(c *policy.Column) string {
	switch c.Keys {
	case policy.PrivateKeys:
		return "private"
	case policy.PublicKeys:
		return fmt.Sprintf("%d public", len(c.KeyValues))
	}
	return ""
}

// keysMean says which keys came, and which went.
func keysMean(was, is *policy.Column) string {
	old, next := keysOf(was), keysOf(is)
	text := "which groups answers have" + listed("; new: ", without(next, old)) + listed("; gone: ", without(old, next))
	if was.Keys == is.Keys && len(old) == len(next) && len(without(next, old)) == 0 {
		return "the same groups in another order"
	}
	return text
}

func keysOf(c *policy.Column) (shown []string) {
	for _, v := range c.KeyValues {
		shown = append(shown, c.ShowValue(v))
	}
	return shown
}

func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(others, s) })
}

// listed lists the first of some things, or nothing where there are none.
func listed(what string, all []string) string {
	const most = 5
	switch {
	case len(all) == 0:
		return ""
	case len(all) > most:
		return what + strings.Join(all[:most], ", ") + fmt.Sprintf(" and %d more", len(all)-most)
	}
	return what + strings.Join(all, ", ")
}

// boundsMean says what other bounds do to the noise of a sum of the column: one person moves it by
// the largest value there can be, or under substitution by the distance from the least.
func (c *comparison) boundsMean(was, is *policy.Column) string {
	switch {
	case is.Bounds == nil:
		return "cannot be summed any more"
	case was.Bounds == nil:
		return "values are clamped to them, and can be summed"
	case was.MaxSum != nil || is.MaxSum != nil || was.Type == policy.Date || was.Type == policy.Timestamp || was.Type != is.Type:
		return "values are clamped to others"
	}
	return scaled("values are clamped to others; noise of SUM",
		new(big.Rat).Quo(c.reach(is.Bounds), c.reach(was.Bounds)))
}

func (c *comparison) reach(b *policy.Bounds) *big.Rat {
	if c.is.Neighbours == dp.Substitute {
		return new(big.Rat).Sub(b.Hi, b.Lo)
	}
	lo, hi := new(big.Rat).Abs(b.Lo), new(big.Rat).Abs(b.Hi)
	if lo.Cmp(hi) > 0 {
		return lo
	}
	return hi
}

func ratio(was, is int64) *big.Rat { return big.NewRat(is, max(was, 1)) }

// scaled says how much larger something becomes.
func scaled(what string, by *big.Rat) string {
	f, _ := by.Float64()
	if f == 1 {
		return what + " stays the same"
	}
	return fmt.Sprintf("%s %s times as large", what, strconv.FormatFloat(f, 'g', 3, 64))
}

func limit(n int64, auto bool) string {
	if auto {
		return "auto"
	}
	return fmt.Sprint(n)
}

// limitMeans says what another limit means: otherwise only where neither is chosen.
func limitMeans(was, is bool, most int64, otherwise string) string {
	switch {
	case is:
		return fmt.Sprintf("chosen for each question, up to %d", most)
	case was:
		return "the same for all questions, and no longer chosen for each"
	}
	return otherwise
}

// from says where limits or bounds come from.
func from(data bool) string {
	if data {
		return "data"
	}
	return "no data"
}

func grain(r *big.Rat) string {
	if r == nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimRight(r.FloatString(12), "0"), ".")
}

// names are those that are in one of two maps, sorted.
func names[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
