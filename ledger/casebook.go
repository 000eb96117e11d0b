package ledger

import (
	"strings"
	"time"
)

// Casebook follows from the records of a ledger: its incidents, and the charges of questions that
// nothing came of. Give it all records, from the first on.
type Casebook struct {
	Incidents []Case
	doors     Doors
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
	// Told says that somebody was told of it: the door was open. Only such ones count.
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
	// Incident is the record that says why, or 0: it was canceled, the process ended, the door was
	// closed when it was done or failed, or it failed in a version that recorded no incidents.
	Incident uint64 `json:"incident"`
}

// Add takes the next record in.
func (b *Casebook) Add(r *Record) {
	told := b.doors.Apply(r)
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

// Door returns the door of a dataset to an analyst, as of the last record.
func (b *Casebook) Door(dataset, analyst string) Door { return b.doors.Door(dataset, analyst) }

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
