package policy

import (
	"math/big"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
)

// Analyst is somebody who may ask.
type Analyst struct {
	Name string
	// Share is the part of the dataset's budget that this analyst may use, above 0
	// and at most 1. Shares may add up to more than 1: they keep one analyst
	// from spending what others need, while the dataset's own filter keeps the
	// promise to the people in the data.
	Share *big.Rat
}

// share returns the share, which is everything where none is given.
func (a *Analyst) share() *big.Rat {
	if a.Share == nil {
		return big.NewRat(1, 1)
	}
	return a.Share
}

func (d *Dataset) readAnalysts(r *reader, f fields) {
	const hint = "nobody may ask unless listed; write for example analysts: {ana: {share: 0.5}, ben: {share: 0.5}}"
	v, ok := f.need(r, "analysts", hint)
	if !ok {
		return
	}
	entries, ok := r.entries(v, "analysts", "analyst", checkShortName)
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
		if v, given := f.get("share"); given {
			d.readShare(r, v, a)
		}
	}
}

func (d *Dataset) readShare(r *reader, v place, a *Analyst) {
	n, ok := r.number(v, "share")
	switch {
	case !ok:
		return
	case n.Sign() <= 0:
		r.at(v, "share %s is not above 0; write a part of the budget such as 0.5, or remove the analyst", v.node.Value)
		return
	case n.Cmp(big.NewRat(1, 1)) > 0:
		r.at(v, "share %s is above 1; a share is a part of the dataset's budget, so write a number such as 0.5", v.node.Value)
		return
	}
	a.Share = n
	if d.filter == (account.Filter{}) {
		return // The budget has problems of its own.
	}
	if l := d.quota(n).Limit(); min(l.Epsilon, l.Rho) == dp.Amount(0) {
		r.at(v, "share %s of this budget rounds down to nothing; write a larger share", v.node.Value)
	}
}
