package replay

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
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
	p.addCharge(r)
	if p.isClosed(asker{r.Dataset, r.Analyst}) {
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
		d.differ("%q does not cover this: %v of %v", b.Account, a.After, limit.cost())
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

// chargeState is what is known of a charge when something is written down for it. There are
// millions of them, so they hold nothing that the collector of memory has to follow.
type chargeState struct {
	who      int // in the list of askers
	window   uint64
	cost     dp.Cost
	answered bool
}

// findCharge returns a charge and who made it, and false where there is none.
func (p *Replay) findCharge(charge uint64) (chargeState, asker, bool) {
	c, ok := p.charges[charge]
	if !ok {
		return chargeState{}, asker{}, false
	}
	return c, p.askers[c.who], true
}

// addCharge remembers a charge. A session of the sparse vector is known by its mechanism.
func (p *Replay) addCharge(r *ledger.Record) {
	who, known := p.askerIndex[asker{r.Dataset, r.Analyst}]
	if !known {
		who = len(p.askers)
		p.askers = append(p.askers, asker{strings.Clone(r.Dataset), strings.Clone(r.Analyst)})
		p.askerIndex[p.askers[who]] = who
	}
	p.charges[r.Sequence] = chargeState{who: who, window: r.Window, cost: r.Cost}
	if strings.HasPrefix(r.Mechanisms, "sparse(") {
		p.unnoted[r.Sequence] = true
	}
}

// answer decides an answer: it belongs to one charge, which has no other, and whose window is not
// over.
func (p *Replay) answer(d *Decision, r *ledger.Record) {
	c, who, ok := p.findCharge(r.Charge)
	switch {
	case !ok:
		d.differ("the answer names record %d, which is not a charge", r.Charge)
	case c.answered:
		d.differ("charge %d has a second answer", r.Charge)
	default:
		c.answered = true
		p.charges[r.Charge] = c
		if now := p.window(who.dataset); c.window != now {
			d.differ("charge %d is of window %d of %q, and was answered in window %d, whose accounts have not paid for it: %v more was "+
				"seen there than they say (earlier versions let that happen)", r.Charge, c.window, who.dataset, now, c.cost)
		}
	}
	if ok && p.isClosed(who) {
		d.differ("the answer of charge %d was kept while %q was closed to %q", r.Charge, who.dataset, who.analyst)
	}
	if !isHash(r.AnswerHash) {
		d.differ("the answer has no hash")
	}
}

// note decides a note. It spends nothing, and what it says is not in the chain. Where a charge is
// in the name of its session, that pays for all of it, in its own window and no other, and while
// its dataset is open to who made it.
func (p *Replay) note(d *Decision, r *ledger.Record) {
	if r.Session == "" || r.AnswerHash == "" {
		d.differ("the note belongs to no session, or has no hash")
	}
	digits, ok := strings.CutPrefix(r.Session, "charge ")
	if !ok {
		return
	}
	sequence, err := strconv.ParseUint(digits, 10, 64)
	c, who, paid := p.findCharge(sequence)
	if err != nil || !paid {
		d.differ("the note belongs to a session that %q pays for, which is not a charge", r.Session)
		return
	}
	delete(p.unnoted, sequence)
	if now := p.window(who.dataset); c.window != now {
		d.differ("charge %d is of window %d of %q, and the session that it paid for went on in window %d, whose accounts have "+
			"not paid for it", sequence, c.window, who.dataset, now)
	}
	if p.isClosed(who) {
		d.differ("the session of charge %d went on while %q was closed to %q", sequence, who.dataset, who.analyst)
	}
}

// renew begins a window. Sessions of the sparse vector that have no notes are from before they had
// any, when nothing ended them with their window, or were opened by a process that died at once:
// nobody can tell.
func (p *Replay) renew(d *Decision, r *ledger.Record) {
	if want := p.window(r.Dataset) + 1; r.Window != want {
		d.differ("window %d of %q begins where window %d is next", r.Window, r.Dataset, want)
	}
	p.windows[strings.Clone(r.Dataset)] = r.Window
	for _, sequence := range slices.Sorted(maps.Keys(p.unnoted)) {
		if c, who, _ := p.findCharge(sequence); who.dataset == r.Dataset {
			d.doubt("the sparse vector session of charge %d, in window %d of %q, may have gone on in window %d: it was opened by a "+
				"version that wrote down none of its answers, and a session ended only with its process", sequence, c.window, r.Dataset,
				r.Window)
			delete(p.unnoted, sequence)
		}
	}
}

// told is an incident that somebody was told of and that the owner has not released.
type told struct {
	dataset, analyst     string
	byAnalyst, byDataset uint64
}

type asker struct{ dataset, analyst string }

// isClosed reports whether a dataset gives an analyst nothing new. It goes through all incidents
// that stand: of those of the dataset and those of the analyst, the last one says how many are
// borne.
func (p *Replay) isClosed(who asker) bool {
	var own, all, ownBorne, allBorne uint64
	for _, t := range p.told {
		if t.dataset != who.dataset {
			continue
		}
		all, allBorne = all+1, t.byDataset
		if t.analyst == who.analyst && t.analyst != "" {
			own, ownBorne = own+1, t.byAnalyst
		}
	}
	return all > 0 && all >= allBorne || own > 0 && own >= ownBorne
}

func (p *Replay) incident(d *Decision, r *ledger.Record) {
	who := asker{strings.Clone(r.Dataset), strings.Clone(r.Analyst)}
	if r.Dataset == "" || r.ByAnalyst == 0 || r.ByDataset == 0 {
		d.differ("the incident names no dataset, or does not say how many are tolerated")
	}
	switch r.Failure {
	case "error", "memory", "time", "panic":
		if r.Analyst == "" {
			d.differ("the incident names no analyst")
		}
	case "crash": // of which the chain does not say whose it was
	default:
		d.differ("there is no failure called %q", r.Failure)
	}
	if r.Charge != 0 {
		if _, who, ok := p.findCharge(r.Charge); !ok {
			d.differ("the incident names record %d, which is not a charge", r.Charge)
		} else if who.dataset != r.Dataset {
			d.differ("the incident is of %q, and the charge that it names, %d, is not", r.Dataset, r.Charge)
		}
	}
	if !p.isClosed(who) {
		p.told = append(p.told, told{who.dataset, who.analyst, max(r.ByAnalyst, 1), max(r.ByDataset, 1)})
	}
}

// release takes back what the owner signed for; what nobody signed stays, where the ledger has an
// owner.
func (p *Replay) release(d *Decision, r *ledger.Record) {
	switch {
	case r.Dataset == "":
		d.differ("the release names no dataset")
	case p.owner == "" && r.Signature+r.PublicKey != "":
		d.differ("the release is signed, and the ledger has no owner")
	case p.owner != "" && (r.PublicKey != p.owner || !signed(p.owner, r, p.reviewed)):
		d.differ("the release is not signed by the owner")
	}
	if len(d.Differs) > 0 {
		return
	}
	var left []told
	for _, t := range p.told {
		if t.dataset != r.Dataset || r.Analyst != "" && t.analyst != r.Analyst {
			left = append(left, t)
		}
	}
	p.told = left
}

func (p *Replay) changeOwner(d *Decision, r *ledger.Record) {
	if _, ok := key(r.PublicKey); !ok {
		d.differ("the owner's key is not an Ed25519 key")
		return
	}
	switch {
	case p.owner == "" && r.Signature != "":
		d.differ("the first owner has nobody to sign for it")
		return
	case p.owner != "" && !signed(p.owner, r, p.decided):
		d.differ("the previous owner has not signed for the next one")
		return
	}
	p.owner = strings.Clone(r.PublicKey)
}

// topUp grants what the owner signed, and nothing else.
func (p *Replay) topUp(d *Decision, r *ledger.Record) {
	switch {
	case p.owner == "":
		d.differ("there is no owner who could have signed this")
	case r.PublicKey != p.owner:
		d.differ("the top-up names the key of somebody who is not the owner")
	case !signed(p.owner, r, p.decided):
		d.differ("the top-up is not signed by the owner")
	}
	seen := map[string]bool{}
	for _, name := range r.Accounts {
		if seen[name] {
			d.differ("the top-up names %q twice", name)
		}
		seen[name] = true
	}
	if len(r.Accounts) == 0 {
		d.differ("the top-up names no account")
	}
	for _, a := range claims(r.Cost) {
		if a > dp.One<<20 {
			d.differ("the top-up is above what an account can hold")
			break
		}
	}
	if len(d.Differs) > 0 {
		return
	}
	for _, name := range r.Accounts {
		p.granted[strings.Clone(name)] = accountSum(p.granted, name).plus(sumOf(r.Cost))
	}
}

func (p *Replay) recover(d *Decision, r *ledger.Record) {
	if r.PublicKey != "" {
		if _, ok := key(r.PublicKey); !ok || p.owner != "" {
			d.differ("the recovery names another owner")
		} else {
			p.owner = strings.Clone(r.PublicKey)
		}
	}
	seen := map[string]bool{}
	for _, b := range r.Balances {
		before, after := accountSum(p.spent, b.Account), sumOf(b.Spent)
		if !before.within(after) {
			d.differ("the recovery takes back what %q has spent: %v, and the record says %v", b.Account, before.cost(), b.Spent)
		}
		if seen[b.Account] {
			d.differ("the recovery names %q twice", b.Account)
		}
		seen[b.Account] = true
		if b.Limit != (dp.Cost{}) || b.Granted != (dp.Cost{}) {
			d.differ("the recovery says something about the limit of %q", b.Account)
		}
		d.Accounts = append(d.Accounts, Account{Name: b.Account, Before: before.cost(), After: b.Spent, Admitted: true})
		p.spent[strings.Clone(b.Account)] = before.larger(after)
	}
}

func key(text string) (ed25519.PublicKey, bool) {
	k, err := hex.DecodeString(text)
	return k, err == nil && len(k) == ed25519.PublicKeySize && hex.EncodeToString(k) == text
}

// signed reports whether the owner signed a record, to follow another one or, as they did before,
// to stand where it stands.
func signed(owner string, r *ledger.Record, after ledger.Position) bool {
	public, ok := key(owner)
	signature, err := hex.DecodeString(r.Signature)
	return ok && err == nil && hex.EncodeToString(signature) == r.Signature &&
		(ed25519.Verify(public, r.Signed(after), signature) || ed25519.Verify(public, r.SignedInPlace(), signature))
}
