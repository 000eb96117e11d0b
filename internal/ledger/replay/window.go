package replay

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// paid is what is known of a charge when something is written down for it. There are millions of
// them, so they hold nothing that the collector of memory has to follow.
type paid struct {
	who      int // in the list of askers
	window   uint64
	cost     dp.Cost
	answered bool
}

// asked returns a charge and who made it, and false where there is none.
func (p *Replay) asked(charge uint64) (paid, asker, bool) {
	c, ok := p.charges[charge]
	if !ok {
		return paid{}, asker{}, false
	}
	return c, p.askers[c.who], true
}

// pay remembers a charge. A session of the sparse vector is known by its mechanism.
func (p *Replay) pay(r *ledger.Record) {
	who, known := p.places[asker{r.Dataset, r.Analyst}]
	if !known {
		who = len(p.askers)
		p.askers = append(p.askers, asker{strings.Clone(r.Dataset), strings.Clone(r.Analyst)})
		p.places[p.askers[who]] = who
	}
	p.charges[r.Sequence] = paid{who: who, window: r.Window, cost: r.Cost}
	if strings.HasPrefix(r.Mechanisms, "sparse(") {
		p.unnoted[r.Sequence] = true
	}
}

// answer decides an answer: it belongs to one charge, which has no other, and whose window is not
// over.
func (p *Replay) answer(d *Decision, r *ledger.Record) {
	c, who, ok := p.asked(r.Charge)
	switch {
	case !ok:
		d.differ("the answer names record %d, which is no charge", r.Charge)
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
	if ok && p.shut(who) {
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
		d.differ("the note is of no session, or has no hash")
	}
	digits, ok := strings.CutPrefix(r.Session, "charge ")
	if !ok {
		return
	}
	sequence, err := strconv.ParseUint(digits, 10, 64)
	c, who, paid := p.asked(sequence)
	if err != nil || !paid {
		d.differ("the note is of a session that %q pays for, which is no charge", r.Session)
		return
	}
	delete(p.unnoted, sequence)
	if now := p.window(who.dataset); c.window != now {
		d.differ("charge %d is of window %d of %q, and the session that it paid for went on in window %d, whose accounts have "+
			"not paid for it", sequence, c.window, who.dataset, now)
	}
	if p.shut(who) {
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
		if c, who, _ := p.asked(sequence); who.dataset == r.Dataset {
			d.doubt("the sparse vector session of charge %d, in window %d of %q, may have gone on in window %d: it was opened by a "+
				"version that wrote down none of its answers, and a session ended only with its process", sequence, c.window, r.Dataset,
				r.Window)
			delete(p.unnoted, sequence)
		}
	}
}
