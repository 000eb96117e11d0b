package replay

import (
	"strings"

	"github.com/discreet-dp/discreet/ledger"
)

// told is an incident that somebody was told of and that the owner has not released.
type told struct {
	dataset, analyst     string
	byAnalyst, byDataset uint64
}

type asker struct{ dataset, analyst string }

// shut reports whether a dataset gives an analyst nothing new. It goes through all incidents that
// stand: of those of the dataset and those of the analyst, the last one says how many are borne.
func (p *Replay) shut(who asker) bool {
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
		d.differ("the incident is of no dataset, or does not say how many are borne")
	}
	switch r.Failure {
	case "error", "memory", "time", "panic":
		if r.Analyst == "" {
			d.differ("the incident is nobody's")
		}
	case "crash": // of which the chain does not say whose it was
	default:
		d.differ("there is no failure called %q", r.Failure)
	}
	if r.Charge != 0 {
		if _, who, ok := p.asked(r.Charge); !ok {
			d.differ("the incident names record %d, which is no charge", r.Charge)
		} else if who.dataset != r.Dataset {
			d.differ("the incident is of %q, and the charge that it names, %d, is not", r.Dataset, r.Charge)
		}
	}
	if !p.shut(who) {
		p.told = append(p.told, told{who.dataset, who.analyst, max(r.ByAnalyst, 1), max(r.ByDataset, 1)})
	}
}

// release takes back what the owner signed for; what nobody signed stays, where the ledger has an
// owner.
func (p *Replay) release(d *Decision, r *ledger.Record) {
	switch {
	case r.Dataset == "":
		d.differ("the release is of no dataset")
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
