package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// Failure says how a question failed after its charge.
type Failure = api.Failure

const (
	FailedError  Failure = "error"  // the engine failed, or what it returned was not usable
	FailedMemory Failure = "memory" // the engine ran out of memory
	FailedTime   Failure = "time"   // the owner's limit of time was reached
	FailedPanic  Failure = "panic"  // a mistake of ours, caught
	FailedCrash  Failure = "crash"  // the process died
)

// Failures are all of them.
var Failures = []Failure{FailedError, FailedMemory, FailedTime, FailedPanic, FailedCrash}

// Incident is a question that failed after its charge. Whether it fails can depend on the data, so
// to be told of it is worth a bit that no noise covers. The ledger counts them and locks out:
// see [Lockouts].
type Incident struct {
	// Analyst is who asked, and is empty for a crash that may have been several analysts'. Charge
	// is what paid for the question, or 0 where that is not known.
	Analyst, Dataset string
	Charge           uint64
	Failure          Failure
	// ByAnalyst and ByDataset are how many failures the policy bears now, of one analyst and of all
	// of them. The last of them locks out.
	ByAnalyst, ByDataset uint64
}

// Validate returns an [*InvalidError] unless the incident is well formed.
func (i Incident) Validate() error {
	least := 1
	if i.Failure == FailedCrash {
		least = 0
	}
	if err := cmp.Or(validText("analyst", i.Analyst, least, MaxName), validText("data set", i.Dataset, 1, MaxName)); err != nil {
		return err
	}
	switch {
	case !slices.Contains(Failures, i.Failure):
		return &InvalidError{"failure", "is not the name of a failure"}
	case i.ByAnalyst == 0 || i.ByDataset == 0:
		return &InvalidError{"number of failures that are tolerated", "is missing: the least is 1"}
	}
	return nil
}

// LockoutError is returned when a dataset is closed to an analyst. It is the same whatever closed
// it.
type LockoutError struct {
	Dataset string
	// Charged says that the question was being answered when the dataset was closed: its charge
	// stays, and nothing came of it.
	Charged bool
}

func (e *LockoutError) Error() string {
	const why = "questions failed after they were charged, and each failure can tell something that nobody paid for"
	if e.Charged {
		return fmt.Sprintf("the dataset %s gives no new answers until its owner releases it: %s. What was charged for this question "+
			"stays charged, and it gets no answer for now; after the release it can be asked again, by the same request, without a "+
			"second charge", e.Dataset, why)
	}
	return fmt.Sprintf("the dataset %s gives no new answers until its owner releases it: %s. Nothing was charged. Answers that were "+
		"paid for stay free; "+
		"ask the owner of the data to look at 'discreet incidents'", e.Dataset, why)
}

// Lockouts follow from the records: which datasets are closed to whom. The rules:
//
//   - An incident counts for its analyst and for its dataset, unless the dataset was closed to
//     the analyst before: then nobody was told of it, and only ledgers of earlier versions have it. That
//     of a crash that names nobody counts for the dataset alone.
//   - The dataset is closed to an analyst whose incidents are as many as the last of them says that
//     are borne, and to everybody where those of the dataset are. Incidents that were released are
//     none.
//   - A release takes back all incidents of an analyst, or of the dataset. Nothing else does, and
//     no clock.
//
// So of a dataset no more failures are told between two releases than the policy bore, however many
// questions are asked at once.
//
// What the policy bears is recorded with each incident. So lockouts follow from the chain alone,
// and a policy that is changed later opens nothing.
type Lockouts struct {
	of map[string]*datasetLockouts
}

type datasetLockouts struct {
	told  []told // incidents that were told and not released; what follows is made of them
	whole tally
	each  map[string]*tally
}

type told struct {
	analyst              string
	byAnalyst, byDataset uint64
	at                   time.Time
}

// tally counts incidents that were told and not released.
type tally struct {
	count, borne uint64
	since        time.Time // of the last one
}

func (t *tally) add(borne uint64, at time.Time) {
	t.count++
	t.borne, t.since = borne, at
}

func (t *tally) closed() bool { return t != nil && t.count > 0 && t.count >= t.borne }

// Lockout says whether a dataset is closed to one analyst.
type Lockout struct {
	Closed bool
	Since  time.Time // the time of the record that closed it
	// Incidents are those of the dataset that were told and not released, and ShutOut is to how
	// many analysts it is closed for their own.
	Incidents uint64
	ShutOut   int
	Own       uint64 // those of this analyst among them
}

// Lockout says whether a dataset is closed to an analyst. Nobody, who is named by nothing, is shut
// out where everybody is.
func (d *Lockouts) Lockout(dataset, analyst string) (out Lockout) {
	h := d.of[dataset]
	if h == nil {
		return out
	}
	out.Incidents = h.whole.count
	if own := h.each[analyst]; own != nil {
		out.Own = own.count
	}
	for _, t := range h.each {
		if t.closed() {
			out.ShutOut++
		}
	}
	for _, t := range []*tally{h.each[analyst], &h.whole} {
		if t.closed() && (!out.Closed || t.since.Before(out.Since)) {
			out.Closed, out.Since = true, t.since
		}
	}
	return out
}

// Closed reports whether a dataset is closed to an analyst.
func (d *Lockouts) Closed(dataset, analyst string) bool {
	h := d.of[dataset]
	return h != nil && (h.whole.closed() || h.each[analyst].closed())
}

// Apply takes a record in. It reports whether an incident counts.
func (d *Lockouts) Apply(r *Record) (counts bool) {
	switch r.Kind {
	case KindIncident:
		return d.incident(r)
	case KindRelease:
		d.release(r)
	}
	return false
}

func (d *Lockouts) incident(r *Record) bool {
	if d.Closed(r.Dataset, r.Analyst) {
		return false
	}
	d.Restore(r)
	return true
}

// Standing returns the incidents that were told and not released, by dataset, in their order.
func (d *Lockouts) Standing() []*Record {
	var all []*Record
	for _, name := range slices.Sorted(maps.Keys(d.of)) {
		for _, t := range d.of[name].told {
			all = append(all, &Record{Kind: KindIncident, Dataset: name, Analyst: t.analyst, ByAnalyst: t.byAnalyst,
				ByDataset: t.byDataset, Time: t.at})
		}
	}
	return all
}

// Restore takes in an incident that stood when [Lockouts.Standing] was asked.
func (d *Lockouts) Restore(r *Record) {
	d.dataset(r.Dataset).add(told{strings.Clone(r.Analyst), r.ByAnalyst, r.ByDataset, r.Time})
}

func (d *Lockouts) dataset(name string) *datasetLockouts {
	if d.of == nil {
		d.of = map[string]*datasetLockouts{}
	}
	h := d.of[name]
	if h == nil {
		h = &datasetLockouts{each: map[string]*tally{}}
		d.of[strings.Clone(name)] = h
	}
	return h
}

func (h *datasetLockouts) add(t told) {
	h.told = append(h.told, t)
	h.whole.add(t.byDataset, t.at)
	if t.analyst == "" {
		return
	}
	if h.each[t.analyst] == nil {
		h.each[t.analyst] = &tally{}
	}
	h.each[t.analyst].add(t.byAnalyst, t.at)
}

func (d *Lockouts) release(r *Record) {
	h := d.of[r.Dataset]
	if h == nil {
		return
	}
	left := &datasetLockouts{each: map[string]*tally{}}
	for _, t := range h.told {
		if r.Analyst != "" && t.analyst != r.Analyst {
			left.add(t)
		}
	}
	*h = *left
}

// Casebook follows from the records of a ledger: its incidents, and the charges of questions that
// nothing came of. Give it all records, from the first on.
type Casebook struct {
	Incidents []Case
	lockouts  Lockouts
	open      map[uint64]Unanswered
	order     []uint64
}

// Case is an incident for the owner.
type Case struct {
	Sequence uint64    `json:"sequence"`
	Time     time.Time `json:"time"`
	Analyst  string    `json:"analyst"` // empty for a crash that may have been several analysts'
	Dataset  string    `json:"dataset"`
	Failure  Failure   `json:"failure"`
	Charge   uint64    `json:"charge"` // 0 where it is not known
	// Told says that somebody was told of it: the dataset was open to them. Only such ones count.
	Told bool `json:"told"`
	// Released is the record of the release that took it back, or 0. One that was not told has
	// nothing to take back.
	Released uint64 `json:"released"`
}

// Unanswered is a charge without an answer.
type Unanswered struct {
	Sequence uint64    `json:"sequence"`
	Time     time.Time `json:"time"`
	Analyst  string    `json:"analyst"`
	Dataset  string    `json:"dataset"`
	Request  string    `json:"request"`
	Query    string    `json:"query"` // the hash of the question
	// Session says that it paid for a session, which never has an answer of its own.
	Session bool `json:"session"`
	// Incident is the record that says why, or 0: it was canceled, the process ended, the dataset
	// was closed when it was done or failed, or it failed in a version that recorded no incidents.
	Incident uint64 `json:"incident"`
}

func (b *Casebook) Add(r *Record) {
	told := b.lockouts.Apply(r)
	switch r.Kind {
	case KindCharge:
		if b.open == nil {
			b.open = map[uint64]Unanswered{}
		}
		b.open[r.Sequence] = Unanswered{
			Sequence: r.Sequence, Time: r.Time.UTC(), Analyst: strings.Clone(r.Analyst), Dataset: strings.Clone(r.Dataset),
			Request: strings.Clone(r.Request), Query: strings.Clone(r.Query),
			Session: PaysForSession(r),
		}
		b.order = append(b.order, r.Sequence)
	case KindAnswer:
		delete(b.open, r.Charge)
	case KindIncident:
		b.Incidents = append(b.Incidents, Case{
			Sequence: r.Sequence, Time: r.Time.UTC(), Analyst: strings.Clone(r.Analyst), Dataset: strings.Clone(r.Dataset),
			Failure: Failure(strings.Clone(string(r.Failure))), Charge: r.Charge, Told: told,
		})
		if u, ok := b.open[r.Charge]; ok {
			u.Incident = r.Sequence
			b.open[r.Charge] = u
		}
	case KindRelease:
		for i, c := range b.Incidents {
			if c.Told && c.Released == 0 && c.Dataset == r.Dataset && (r.Analyst == "" || c.Analyst == r.Analyst) {
				b.Incidents[i].Released = r.Sequence
			}
		}
	}
}

// Lockout says whether a dataset is closed to an analyst, as of the last record.
func (b *Casebook) Lockout(dataset, analyst string) Lockout {
	return b.lockouts.Lockout(dataset, analyst)
}

// Unanswered returns the charges without an answer, in their order.
func (b *Casebook) Unanswered() []Unanswered {
	var all []Unanswered
	for _, n := range b.order {
		if u, ok := b.open[n]; ok {
			all = append(all, u)
		}
	}
	return all
}
