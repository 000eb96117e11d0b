package replay

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

func (p *Replay) charge(d *Decision, r *ledger.Record) {
	request := sha256.Sum256([]byte(r.Request))
	if first, ok := p.requests[request]; ok {
		d.differ("the request %q was charged before, by record %d", r.Request, first)
	} else {
		p.requests[request] = r.Sequence
	}
	p.pay(r)
	if p.shut(asker{r.Dataset, r.Analyst}) {
		d.differ("the charge was made while %q was closed to %q", r.Dataset, r.Analyst)
	}
	if want := p.window(r.Dataset); r.Window != want {
		d.differ("the charge is in window %d of %q, and the current one is %d", r.Window, r.Dataset, want)
	}
	if version := p.versions[r.Dataset]; r.DataVersion != version {
		d.differ("the charge is about version %q of %q, and the current one is %q", r.DataVersion, r.Dataset, version)
	}
	if free(r.Cost) {
		d.differ("the charge has a claim of zero, or claims nothing")
	}
	if len(r.Balances) == 0 {
		d.differ("the charge names no account")
	}
	d.Admitted = true
	seen := map[string]bool{}
	for _, b := range r.Balances {
		if seen[b.Account] {
			d.differ("the account %q is named twice", b.Account)
			continue
		}
		seen[b.Account] = true
		a := p.account(d, r, b)
		d.Accounts = append(d.Accounts, a)
		d.Admitted = d.Admitted && a.Admitted
	}
}

// account decides a charge in one account, and spends there.
func (p *Replay) account(d *Decision, r *ledger.Record, b ledger.Balance) Account {
	before, granted, limit := accountSum(p.spent, b.Account), accountSum(p.granted, b.Account), sumOf(b.Limit)
	after := before.plus(sumOf(r.Cost))
	a := Account{Name: b.Account, Before: before.cost(), After: after.cost(), Limit: b.Limit, Granted: granted.cost()}
	if b.Spent != a.After {
		d.differ("%q has spent %v, and the record says %v", b.Account, a.After, b.Spent)
	}
	if b.Granted != a.Granted {
		d.differ("%q was granted %v, and the record says %v", b.Account, a.Granted, b.Granted)
	}
	if !granted.within(limit) {
		d.differ("the limit of %q is less than what was granted", b.Account)
	}
	if b.Limit.Delta == dp.Unbounded || b.Limit.Epsilon == dp.Unbounded && b.Limit.Rho == dp.Unbounded {
		d.differ("%q has no limit", b.Account)
	}
	// The limit is as good as its parts: what the policy said, and what was signed. A record that
	// claims more granted than was signed is judged by what was signed.
	limit = limit.less(sumOf(b.Granted)).plus(granted)
	if a.Admitted = after.fits(limit) && after.fits(sumOf(b.Limit)); !a.Admitted {
		d.differ("%q does not admit this: %v of %v", b.Account, a.After, limit.cost())
	}
	if n, ok := windowOf(b.Account, r.Dataset); ok && n != p.window(r.Dataset) {
		d.differ("%q is not an account of the current window, %d", b.Account, p.window(r.Dataset))
	}
	p.spent[strings.Clone(b.Account)] = after.larger(sumOf(b.Spent))
	p.limits[strings.Clone(b.Account)] = sumOf(b.Limit).less(sumOf(b.Granted)).cost()
	return a
}

// free reports whether a cost would be admitted for ever, or claims nothing.
func free(c dp.Cost) bool {
	return c.Epsilon == 0 || c.Rho == 0 && c.Delta == 0 || c.Delta == dp.Unbounded || c.Epsilon == dp.Unbounded && c.Rho == dp.Unbounded
}

// windowOf reads the window out of the name of an account of a dataset, such as hospital/ana#2.
func windowOf(name, dataset string) (uint64, bool) {
	at := strings.LastIndexByte(name, '#')
	if at < 0 || name[:at] != dataset && !strings.HasPrefix(name, dataset+"/") {
		return 0, false
	}
	n, err := strconv.ParseUint(name[at+1:], 10, 64)
	return n, err == nil
}
