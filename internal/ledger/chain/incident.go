package chain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/ledger"
)

// Incidents are what failed, for whom, and to whom datasets are closed by that.
type Incidents struct {
	lockouts ledger.Lockouts
	asked    askers
	failed   map[uint64]bool   // charges with an incident
	sessions map[uint64]bool   // charges that pay for a session
	crashed  map[string]uint64 // the last crash of a dataset
}

func newIncidents() Incidents {
	return Incidents{failed: map[uint64]bool{}, sessions: map[uint64]bool{}, crashed: map[string]uint64{}}
}

func (x *Incidents) clone() Incidents {
	out := Incidents{failed: maps.Clone(x.failed), sessions: maps.Clone(x.sessions), crashed: maps.Clone(x.crashed)}
	out.asked = askers{slices.Clone(x.asked.by), slices.Clone(x.asked.all), maps.Clone(x.asked.index)}
	for _, r := range x.lockouts.Standing() {
		out.lockouts.Restore(r)
	}
	return out
}

// addCharge remembers who made a charge.
func (x *Incidents) addCharge(r *ledger.Record) {
	x.asked.add(r)
	if ledger.PaysForSession(r) {
		x.sessions[r.Sequence] = true
	}
}

func (x *Incidents) Lockout(dataset, analyst string) ledger.Lockout {
	return x.lockouts.Lockout(dataset, analyst)
}

// Closed reports whether a dataset is closed to an analyst.
func (x *Incidents) Closed(dataset, analyst string) bool { return x.lockouts.Closed(dataset, analyst) }

// Withheld reports whether the answer of a charge may not be kept, because its dataset was
// closed since.
func (x *Incidents) Withheld(charge uint64) bool {
	who, ok := x.asked.find(charge)
	return ok && x.lockouts.Closed(who.dataset, who.analyst)
}

func (x *Incidents) DatasetOf(charge uint64) string {
	who, _ := x.asked.find(charge)
	return who.dataset
}

func (x *Incidents) Failed(charge uint64) bool { return x.failed[charge] }

func (x *Incidents) add(r *ledger.Record) {
	x.lockouts.Apply(r)
	if r.Kind == ledger.KindIncident && r.Charge != 0 {
		x.failed[r.Charge] = true
	}
	if r.Kind == ledger.KindIncident && r.Failure == ledger.FailedCrash {
		x.crashed[strings.Clone(r.Dataset)] = r.Sequence
	}
}

func (x *Incidents) check(r *ledger.Record) error {
	if err := (ledger.Incident{Analyst: r.Analyst, Dataset: r.Dataset, Charge: r.Charge, Failure: r.Failure, ByAnalyst: r.ByAnalyst,
		ByDataset: r.ByDataset}).Validate(); err != nil {
		return fmt.Errorf("the incident is not valid: %w", err)
	}
	if r.Charge == 0 {
		return nil
	}
	if who, ok := x.asked.find(r.Charge); !ok || who.dataset != r.Dataset {
		return fmt.Errorf("the incident names record %d, which is not a charge for %q", r.Charge, r.Dataset)
	}
	return nil
}

// askers know who made each charge, in four bytes a record.
type askers struct {
	by    []uint32 // by sequence: an index of all, from 1 on; 0 is no charge
	all   []asker
	index map[asker]uint32
}

type asker struct{ dataset, analyst string }

func (a *askers) add(r *ledger.Record) {
	who := asker{r.Dataset, r.Analyst}
	n, ok := a.index[who]
	if !ok {
		// The names were cut out of a record; copies let go of the rest.
		who = asker{strings.Clone(r.Dataset), strings.Clone(r.Analyst)}
		if a.all = append(a.all, who); a.index == nil {
			a.index = map[asker]uint32{}
		}
		n = uint32(len(a.all))
		a.index[who] = n
	}
	if missing := int(r.Sequence) + 1 - len(a.by); missing > 0 {
		a.by = append(slices.Grow(a.by, missing), make([]uint32, missing)...)
	}
	a.by[r.Sequence] = n
}

func (a *askers) find(charge uint64) (asker, bool) {
	if charge >= uint64(len(a.by)) || a.by[charge] == 0 {
		return asker{}, false
	}
	return a.all[a.by[charge]-1], true
}
