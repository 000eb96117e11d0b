package policy

import (
	"math/big"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
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

// part returns the share of an amount, rounded down; nothing where that is not
// an amount.
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
func (d *Dataset) readQuota(r *reader, f fields, noun string) (share *big.Rat, epsilon dp.Amount) {
	share = big.NewRat(1, 1)
	s, hasShare := f.get("share")
	e, hasEpsilon := f.get("epsilon")
	switch {
	case hasShare && hasEpsilon:
		r.at(e, "the %s has a share and an epsilon, which are two quotas; keep one", noun)
	case hasShare:
		if got, ok := d.readShare(r, s, noun); ok {
			share = got
		}
	case hasEpsilon:
		if got, ok := d.readEpsilon(r, e); ok {
			return nil, got
		}
	}
	return share, 0
}

func (d *Dataset) readShare(r *reader, v place, noun string) (*big.Rat, bool) {
	n, ok := r.number(v, "share")
	switch {
	case !ok:
		return nil, false
	case n.Sign() <= 0:
		r.at(v, "share %s is not above 0; write a part of the budget such as 0.5, or remove the %s", v.node.Value, noun)
		return nil, false
	case n.Cmp(big.NewRat(1, 1)) > 0:
		r.at(v, "share %s is above 1; a share is a part of the dataset's budget, so write a number such as 0.5", v.node.Value)
		return nil, false
	}
	if d.hasFilter() && isNothing(d.quotaOf(n, 0)) {
		r.at(v, "share %s of this budget rounds down to nothing; write a larger share", v.node.Value)
	}
	return n, true
}

func (d *Dataset) readEpsilon(r *reader, v place) (dp.Amount, bool) {
	n, ok := r.amount(v, "epsilon")
	if !ok || !d.hasFilter() {
		return 0, false
	}
	if n > d.Budget.Epsilon {
		r.at(v, "epsilon %s is above the dataset's, %v; a quota is a part of the dataset's budget, so write at most that",
			v.node.Value, d.Budget.Epsilon)
		return 0, false
	}
	d.rememberRho(n)
	if isNothing(d.quotaOf(nil, n)) {
		r.at(v, "epsilon %s is too little to spend any of it; write a larger one", v.node.Value)
	}
	return n, true
}

// hasFilter reports whether the budget was read without problems of its own.
func (d *Dataset) hasFilter() bool { return d.filter != (account.Filter{}) }

func isNothing(f account.Filter) bool {
	l := f.Limit()
	return min(l.Epsilon, l.Rho) == 0
}
