package replay

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// paid is what is known of a charge when something is written down for it.
type paid struct {
	dataset  string
	analyst  string
	window   uint64
	cost     dp.Cost
	answered bool
}

// asker is who asked, and about what.
func (c *paid) asker() asker { return asker{c.dataset, c.analyst} }

// pay remembers a charge. A session of the sparse vector is known by its mechanism.
func (p *Replay) pay(r *ledger.Record) {
	p.charges[r.Sequence] = &paid{dataset: strings.Clone(r.Dataset), analyst: strings.Clone(r.Analyst), window: r.Window, cost: r.Cost}
	if strings.HasPrefix(r.Mechanisms, "sparse(") {
		p.unnoted[r.Sequence] = true
	}
}

// answer decides an answer: it belongs to one charge, which has no other, and whose window is not
// over.
func (p *Replay) answer(d *Decision, r *ledger.Record) {
	switch c := p.charges[r.Charge]; {
	case c == nil:
		d.differ("the answer names record %d, which is no charge", r.Charge)
	case c.answered:
		d.differ("charge %d has a second answer", r.Charge)
	default:
		c.answered = true
		if now := p.window(c.dataset); c.window != now {
			d.differ("charge %d is of window %d of %q, and was answered in window %d, whose accounts have not paid for it: %v more was "+
				"seen there than they say (earlier versions let that happen)", r.Charge, c.window, c.dataset, now, c.cost)
		}
	}
	if c := p.charges[r.Charge]; c != nil && p.shut(c.asker()) {
		d.differ("the answer of charge %d was kept while %q was closed to %q", r.Charge, c.dataset, c.analyst)
	}
	if !isHash(r.AnswerHash) {
		d.differ("the answer has no hash")
	}
}

// note decides a note. It spends nothing, and what it says is not in the chain. Where a charge is
// in the name of its session, that pays for all of it, in its own window and no other, and while
// the door is open to who made it.
func (p *Replay) note(d *Decision, r *ledger.Record) {
	if r.Session == "" || r.AnswerHash == "" {
		d.differ("the note is of no session, or has no hash")
	}
	digits, ok := strings.CutPrefix(r.Session, "charge ")
	if !ok {
		return
	}
	sequence, err := strconv.ParseUint(digits, 10, 64)
	c := p.charges[sequence]
	if err != nil || c == nil {
		d.differ("the note is of a session that %q pays for, which is no charge", r.Session)
		return
	}
	delete(p.unnoted, sequence)
	if now := p.window(c.dataset); c.window != now {
		d.differ("charge %d is of window %d of %q, and the session that it paid for went on in window %d, whose accounts have "+
			"not paid for it", sequence, c.window, c.dataset, now)
	}
	if p.shut(c.asker()) {
		d.differ("the session of charge %d went on while %q was closed to %q", sequence, c.dataset, c.analyst)
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
		if c := p.charges[sequence]; c.dataset == r.Dataset {
			d.doubt("the sparse vector session of charge %d, in window %d of %q, may have gone on in window %d: it was opened by a "+
				"version that wrote down none of its answers, and a session ended only with its process", sequence, c.window, c.dataset,
				r.Window)
			delete(p.unnoted, sequence)
		}
	}
}
