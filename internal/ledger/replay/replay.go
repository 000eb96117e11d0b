// Package replay decides every charge of a ledger once more, from its records alone, and says where
// the ledger decided otherwise.
//
// It is a second opinion. It is written from the promises of package ledger and shares no code with
// what decides when a charge is made: the sums are integers of any size, and signatures are
// verified here. So a mistake in one of the two is seen by the other. What both use is the layout
// of records, the type [ledger.Record].
//
// For every charge it asks: is this the first charge of its request; is it in the dataset's current
// window, about the data that the last record of kind version names; does it cost something; and in
// every account, is what was spent before, plus the cost, what the record says, and within the
// limit, of which the granted part is the sum of the top-ups that the owner signed. The rest of a
// limit is what the policy said then, which only the record knows; [Replay.Limits] has the last of
// each, to be compared with a policy.
//
// An answer belongs to one charge, a charge has at most one, and it is in the window of its charge;
// so are the notes of a session that one charge pays for. A recovery never takes back what was
// spent. While incidents have closed a dataset to an analyst there is neither a charge nor an
// answer of theirs, nor a note of a session that one charge of theirs pays for, until a release,
// which the owner signed where there is one.
//
// What an owner signed follows the last record by which an owner decided something, and a release
// the last incident where that came later.
package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Decision is what follows about one record from those before it.
type Decision struct {
	Sequence uint64      `json:"sequence"`
	Kind     ledger.Kind `json:"kind"`
	// Accounts are those of a charge or of a recovery, each named once.
	Accounts []Account `json:"accounts,omitempty"`
	// Admitted says, of a charge, whether every account admits it.
	Admitted bool `json:"admitted"`
	// Differs says in which ways the record is not what follows from those before it. A good ledger
	// has none.
	Differs []string `json:"differs,omitempty"`
	// Doubts say what the records cannot tell, and an owner may want to ask about.
	Doubts []string `json:"doubts,omitempty"`
}

type Account struct {
	Name     string  `json:"account"`
	Before   dp.Cost `json:"before"`  // what was spent before
	After    dp.Cost `json:"after"`   // and with this
	Limit    dp.Cost `json:"limit"`   // of a charge
	Granted  dp.Cost `json:"granted"` // the part of the limit that signed top-ups added
	Admitted bool    `json:"admitted"`
}

// Replay decides the records of one ledger. Give it all of them, from the first on.
type Replay struct {
	begun      bool
	sequence   uint64
	hash       string
	owner      string
	spent      map[string]sum
	granted    map[string]sum
	limits     map[string]dp.Cost
	windows    map[string]uint64
	versions   map[string]string
	requests   map[[sha256.Size]byte]uint64
	charges    map[uint64]chargeState
	askers     []asker
	askerIndex map[asker]int   // in askers
	unnoted    map[uint64]bool // charges of sparse vector sessions that no note is of yet
	told       []told          // incidents that stand
	decided    ledger.Position // what an owner's signature follows: their last decision
	reviewed   ledger.Position // and that of a release: the last incident, where it came later
	decisions  uint64
	differing  uint64
}

func New() *Replay {
	return &Replay{
		spent: map[string]sum{}, granted: map[string]sum{}, limits: map[string]dp.Cost{}, windows: map[string]uint64{},
		versions: map[string]string{}, requests: map[[sha256.Size]byte]uint64{}, charges: map[uint64]chargeState{},
		unnoted: map[uint64]bool{}, askerIndex: map[asker]int{},
	}
}

// Next decides the next record, which is stored under a hash. It goes on from what it derived
// itself, except where a record spends more than follows: what was spent stays spent.
func (p *Replay) Next(r *ledger.Record, hash string) Decision {
	d := Decision{Sequence: r.Sequence, Kind: r.Kind}
	p.checkPosition(&d, r, hash)
	switch r.Kind {
	case ledger.KindLedger:
		if p.begun {
			d.differ("a ledger begins only once")
		}
	case ledger.KindCharge:
		p.charge(&d, r)
		p.decisions++
	case ledger.KindAnswer:
		p.answer(&d, r)
	case ledger.KindVersion:
		if p.versions[r.Dataset] == r.DataVersion {
			d.differ("the data of %q had this version already", r.Dataset)
		}
		p.versions[strings.Clone(r.Dataset)] = strings.Clone(r.DataVersion)
	case ledger.KindRenewal:
		p.renew(&d, r)
	case ledger.KindOwner:
		p.changeOwner(&d, r)
	case ledger.KindTopUp:
		p.topUp(&d, r)
	case ledger.KindRecovery:
		p.recover(&d, r)
	case ledger.KindNote:
		p.note(&d, r)
	case ledger.KindIncident:
		p.incident(&d, r)
	case ledger.KindRelease:
		p.release(&d, r)
	default:
		d.differ("there are no records of kind %q", r.Kind)
	}
	p.begun, p.sequence, p.hash = true, r.Sequence, hash
	p.follow(r.Kind)
	if len(d.Differs) > 0 {
		p.differing++
	}
	return d
}

// follow moves what the owner's next signature has to follow.
func (p *Replay) follow(kind ledger.Kind) {
	here := ledger.Position{Sequence: p.sequence, Hash: strings.Clone(p.hash)}
	switch kind {
	case ledger.KindCharge, ledger.KindAnswer, ledger.KindVersion, ledger.KindNote: // which analysts cause
	case ledger.KindIncident:
		p.reviewed = here
	default:
		p.decided, p.reviewed = here, here
	}
}

// Decisions returns how many charges were decided, and how many records differ.
func (p *Replay) Decisions() (charges, differ uint64) { return p.decisions, p.differing }

// Limits returns, for every account ever charged, the limit of its last charge without what was
// granted: what the policy said then.
func (p *Replay) Limits() map[string]dp.Cost { return maps.Clone(p.limits) }

// Spent returns what was spent in every account, as it was derived here, in the order of names.
func (p *Replay) Spent() []ledger.Balance {
	var all []ledger.Balance
	for _, name := range slices.Sorted(maps.Keys(p.spent)) {
		all = append(all,
			ledger.Balance{Account: name, Limit: p.limits[name], Granted: p.granted[name].cost(), Spent: p.spent[name].cost()})
	}
	return all
}

func (d *Decision) differ(format string, args ...any) {
	d.Differs = append(d.Differs, fmt.Sprintf(format, args...))
}

func (d *Decision) doubt(format string, args ...any) {
	d.Doubts = append(d.Doubts, fmt.Sprintf(format, args...))
}

func isHash(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == sha256.Size
}

// checkPosition asks whether the record is in its place, and is what was hashed.
func (p *Replay) checkPosition(d *Decision, r *ledger.Record, hash string) {
	digest := sha256.Sum256([]byte(r.Encode()))
	if hex.EncodeToString(digest[:]) != hash {
		d.differ("the record does not match its hash")
	}
	switch {
	case !p.begun && (r.Kind != ledger.KindLedger || r.Sequence != 0):
		d.differ("a ledger does not begin with this record")
	case p.begun && r.Sequence != p.sequence+1:
		d.differ("number %d follows number %d", r.Sequence, p.sequence)
	}
	if p.begun && r.Previous != p.hash {
		d.differ("the record does not continue the one before")
	}
}

func (p *Replay) window(dataset string) uint64 { return max(p.windows[dataset], 1) }

// sum is a cost in integers of any size, in units of 2^-40. A claim that is nil is unbounded.
type sum [3]*big.Int

// top is what stands for an unbounded amount. A sum that reaches it is unbounded too.
var top = new(big.Int).SetUint64(uint64(dp.Unbounded))

func claims(c dp.Cost) [3]dp.Amount { return [3]dp.Amount{c.Epsilon, c.Rho, c.Delta} }

func sumOf(c dp.Cost) (s sum) {
	for i, a := range claims(c) {
		if a != dp.Unbounded {
			s[i] = new(big.Int).SetUint64(uint64(a))
		}
	}
	return s
}

// nothing is the sum of no costs.
func nothing() sum { return sum{new(big.Int), new(big.Int), new(big.Int)} }

func (s sum) plus(t sum) (out sum) {
	for i := range s {
		if s[i] == nil || t[i] == nil {
			continue
		}
		if n := new(big.Int).Add(s[i], t[i]); n.Cmp(top) < 0 {
			out[i] = n
		}
	}
	return out
}

// within reports whether every claim is at most the limit's. An unbounded limit limits nothing.
func (s sum) within(limit sum) bool {
	for i := range s {
		if limit[i] != nil && (s[i] == nil || s[i].Cmp(limit[i]) > 0) {
			return false
		}
	}
	return true
}

// fits reports whether a budget admits what was spent: of two claims that are both limited, epsilon
// and rho, one is enough, and delta has to be within its limit in any case.
func (s sum) fits(limit sum) bool {
	for skipped := range 2 {
		other := limit
		if limit[0] != nil && limit[1] != nil {
			other[skipped] = nil
		}
		if s.within(other) {
			return true
		}
	}
	return false
}

// less returns what a limit is without a part of it, and never less than nothing.
func (s sum) less(part sum) (out sum) {
	for i := range s {
		switch {
		case s[i] == nil:
		case part[i] == nil || part[i].Cmp(s[i]) > 0:
			out[i] = new(big.Int)
		default:
			out[i] = new(big.Int).Sub(s[i], part[i])
		}
	}
	return out
}

// larger returns the larger of two sums, claim by claim.
func (s sum) larger(t sum) (out sum) {
	for i := range s {
		if s[i] != nil && t[i] != nil {
			out[i] = s[i]
			if t[i].Cmp(s[i]) > 0 {
				out[i] = t[i]
			}
		}
	}
	return out
}

func (s sum) cost() dp.Cost {
	var all [3]dp.Amount
	for i, n := range s {
		if all[i] = dp.Unbounded; n != nil {
			all[i] = dp.Amount(n.Uint64())
		}
	}
	return dp.Cost{Epsilon: all[0], Rho: all[1], Delta: all[2]}
}

func accountSum(all map[string]sum, name string) sum {
	if s, ok := all[name]; ok {
		return s
	}
	return nothing()
}
