package policy

import (
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/username"
)

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

func (d *Dataset) readAnalysts(r *reader, f fields) {
	const hint = "nobody may ask unless listed; write for example analysts: {ana: {share: 0.5}, ben: {share: 0.5}}"
	v, ok := f.need(r, "analysts", hint)
	if !ok {
		return
	}
	entries, ok := r.entries(v, "analysts", "analyst", username.Check)
	if !ok {
		return
	}
	if len(entries) == 0 {
		r.at(v, "there are no analysts: %s", hint)
	}
	d.Analysts = map[string]*Analyst{}
	for _, e := range entries {
		a := &Analyst{Name: e.name, Share: big.NewRat(1, 1)}
		d.Analysts[e.name] = a
		if r.isNull(e.place) {
			continue // "ana:" alone is an analyst with the whole budget as quota.
		}
		f, ok := r.fields(e.place, e.place.node, "an analyst", analystKeys)
		if !ok {
			continue
		}
		a.Share, a.Epsilon = d.readQuota(r, f, "analyst")
		if v, given := f.get("expires"); given {
			a.readExpires(r, v)
		}
	}
}

func (a *Analyst) readExpires(r *reader, v place) {
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
