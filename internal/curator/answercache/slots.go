package answercache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lru"
	"github.com/discreet-dp/discreet/internal/planner/cells"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/ledger"
)

// Cache is what was released, in the ledger, and which of it is known here. What is in the slots
// of families stays, so it is read once. An answer that is found nowhere is looked for again.
type Cache struct {
	ledger   ledger.Ledger
	arrivals arrivals

	taking   sync.Mutex      // one at a time takes slots
	reserved map[string]bool // taken, and perhaps not kept yet

	known    *lru.Map[string, *keptSource] // what is in slots
	recalled *lru.Map[string, *answered]   // what was kept for purchases, by their keys
	hashes   *lru.Map[uint64, string]      // of charges
}

// answered is what was released for a purchase. It was kept, so it stays as it is.
type answered struct {
	released *answers.Released
	sequence uint64
}

// New returns the memory of a ledger.
func New(l ledger.Ledger) *Cache {
	return &Cache{ledger: l, known: lru.New[string, *keptSource](maxRemembered),
		recalled: lru.New[string, *answered](maxRemembered), hashes: lru.New[uint64, string](maxHashes)}
}

// The ledger keeps what a price admits, and 2 MB more for what the values are of: this does not
// compile where it does not.
const _ = uint(ledger.MaxAnswer - 2<<20 - pricing.MaxBytes)

// maxReserved is how many slots are remembered as reserved. Those that were kept are found in the
// ledger.
const maxReserved = 1 << 12

// maxRemembered is how many noisy numbers are remembered, of slots and of purchases each: eight
// bytes a number. maxHashes is how many hashes of charges.
const (
	maxRemembered = 1 << 20
	maxHashes     = 1 << 12
)

// find returns what is in a slot, or nil.
func (m *Cache) find(ctx context.Context, key string) (*keptSource, error) {
	if s, ok := m.known.Get(key); ok {
		return s, nil
	}
	text, sequence, found, err := m.ledger.Recall(ctx, key)
	if err != nil || !found {
		return nil, err
	}
	s, err := decodeSource(text, key)
	if err != nil {
		s = &keptSource{} // the slot is taken, and by nothing that can be used
	}
	s.sequence = sequence
	m.arrivals.learn(sequence, s.kept)
	for _, n := range s.noise {
		s.variances = append(s.variances, variance(n))
	}
	m.known.Put(key, s, 16+numbers(s.values))
	return s, nil
}

// numbers is how many noisy numbers there are.
func numbers(vectors [][]int64) int {
	n := 0
	for _, v := range vectors {
		n += len(v)
	}
	return n
}

// take returns the first free slot of each family, where there is one, and reserves it. Families
// that are named twice get two.
func (m *Cache) take(ctx context.Context, families [][]string) ([][]string, error) {
	m.taking.Lock()
	defer m.taking.Unlock()
	if len(m.reserved) > maxReserved || m.reserved == nil {
		m.reserved = map[string]bool{} // two answers in one slot do no harm: the first is found
	}
	taken := map[string]int{}
	out := make([][]string, len(families))
	for i, all := range families {
		for k, family := range all {
			most := sameSlots
			if k > 0 {
				most = cellSlots
			}
			n := taken[family]
			for ; n < most; n++ {
				s, err := m.find(ctx, slot(family, n))
				if err != nil {
					return nil, err
				}
				if s == nil && !m.reserved[slot(family, n)] {
					out[i] = append(out[i], slot(family, n))
					m.reserved[slot(family, n)] = true
					break
				}
			}
			taken[family] = n + 1
		}
	}
	return out, nil
}

// giveBack frees slots in which nothing was kept.
func (m *Cache) giveBack(where [][]string) {
	m.taking.Lock()
	defer m.taking.Unlock()
	for _, all := range where {
		for _, slot := range all {
			delete(m.reserved, slot)
		}
	}
}

// Keep stores what was bought, where it is found by itself and by questions that can be made of it.
// made says what computed it, where all of it is known to be of this version of the data, and is
// empty where that is not known; see FindBase.
func (m *Cache) Keep(
	ctx context.Context, sequence uint64, buys []*pricing.Purchase, bought []*answers.Released, version, made string,
) error {
	releaseclock.Settle(ctx) // what is kept says when
	defer m.arrivals.note(sequence)()
	found := make([][]string, len(buys))
	for i, b := range buys {
		found[i] = families(b, version)
	}
	where, err := m.take(ctx, found)
	if err != nil { // what was paid for is kept nevertheless
		where = make([][]string, len(buys))
	}
	key := ledger.JoinKeys(append([]string{keyOf(buys, version)}, slices.Concat(where...)...)...)
	if ledger.ValidateKey(key) != nil { // so many, with such long names, that there is no room for families
		m.giveBack(where)
		key, where = keyOf(buys, version), make([][]string, len(buys))
	}
	stored, err := encode(buys, bought, where, made, false)
	if err == nil {
		err = m.ledger.Keep(ctx, sequence, key, stored)
	}
	if err != nil {
		m.giveBack(where)
	}
	return err
}

// KeepForRequest stores what was released where only the request of a charge finds it: what is told
// for it and was paid for by others, or what was computed while the data moved, so that nobody
// knows which data it is of.
func (m *Cache) KeepForRequest(
	ctx context.Context, sequence uint64, buys []*pricing.Purchase, released []*answers.Released, moved bool,
) error {
	releaseclock.Settle(ctx) // what is kept says when
	defer m.arrivals.note(sequence)()
	text, err := encode(buys, released, make([][]string, len(buys)), "", moved)
	if err == nil {
		err = m.ledger.Keep(ctx, sequence, "request of charge "+strconv.FormatUint(sequence, 10), text)
	}
	return err
}

// families are those under which a purchase is found: itself at another price, and what is made of
// its groups.
func families(b *pricing.Purchase, version string) []string {
	if !b.Reusable() {
		return nil
	}
	out := []string{sameFamily(b, version)}
	if family, _, ok := cellKeys(b); ok {
		out = append(out, placed(version, "cells", family))
	}
	return out
}

// keyOf names the answers of several purchases that are bought together. Each is found by its own
// name.
func keyOf(buys []*pricing.Purchase, version string) string {
	keys := make([]string, len(buys))
	for i, b := range buys {
		keys[i] = b.Key(version)
	}
	return ledger.JoinKeys(keys...)
}

// keptSource is what was released for a purchase, with all that is needed to make other answers of
// it: the noise that is in the numbers, and what the groups are.
type keptSource struct {
	sequence uint64
	measures []string // their names
	noise    []pricing.Noise
	// variances are those of the noise, to compare quickly.
	variances []float64
	cells     []cells.Key
	values    [][]int64
	kept      time.Time
	made      string // what computed it, where it is of this version of the data for sure
}

// maxCellText bounds what the keys of a source take in the ledger. Longer lists are no sources for
// others.
const maxCellText = 8 << 10

// storedNoise is a mechanism as it is written: what it was made from, so that it can be made again.
type storedNoise struct {
	Mechanism   string `json:"mechanism"`
	Sensitivity string `json:"sensitivity"` // in steps; squared for gaussian and residuals
	Amount      uint64 `json:"amount"`      // epsilon for laplace, rho for the others, in units of account
	// Of a marginal: its variance, and how far its noise is from a normal, with what rounding has
	// added.
	Variance string `json:"variance,omitempty"`
	Reach    string `json:"reach,omitempty"`
	Off      int64  `json:"off,omitempty"` // of an average: how many steps more it is off
}

// storedNoiseOf is the noise of a measure, in numbers that are off by some steps more.
func storedNoiseOf(n pricing.Noise, off int64) storedNoise {
	if n.Quantiles != nil {
		return storedNoise{}
	}
	if m, ok := n.Mechanism.(*mech.MarginalNoise); ok {
		reach := m.Reach()
		return storedNoise{Mechanism: n.Name(), Sensitivity: n.Sensitivity().L2Squared().String(), Amount: uint64(n.Cost().Rho),
			Variance: m.Parameter().RatString(), Reach: reach.Add(reach, big.NewRat(off, 1)).RatString()}
	}
	if m, ok := n.Mechanism.(*mech.AveragedNoise); ok {
		off = m.ExtraSteps()
	}
	if n.Norm() != dp.L1 && off > 0 { // mech.AveragedNoise
		return storedNoise{Mechanism: "averaged", Sensitivity: n.Sensitivity().L2Squared().String(), Amount: uint64(n.Cost().Rho), Off: off}
	}
	if n.Norm() == dp.L1 {
		return storedNoise{Mechanism: n.Name(), Sensitivity: n.Sensitivity().L1().String(), Amount: uint64(n.Cost().Epsilon)}
	}
	return storedNoise{Mechanism: n.Name(), Sensitivity: n.Sensitivity().L2Squared().String(), Amount: uint64(n.Cost().Rho)}
}

// noise makes the mechanism again. A quantile has none.
func (s storedNoise) noise() (pricing.Noise, error) {
	d, ok := new(big.Int).SetString(s.Sensitivity, 10)
	if s.Mechanism == "" {
		return pricing.Noise{}, nil
	}
	if !ok || d.Sign() <= 0 {
		return pricing.Noise{}, ErrUnreadable
	}
	var m mech.Mechanism
	var err error
	switch s.Mechanism {
	case "laplace":
		m, err = mech.NewLaplace(dp.NewL1(d), dp.Amount(s.Amount))
	case "gaussian":
		m, err = mech.NewGaussian(dp.NewL2Squared(d), dp.Amount(s.Amount))
	case "averaged":
		var g *mech.Gaussian
		if g, err = mech.NewGaussian(dp.NewL2Squared(d), dp.Amount(s.Amount)); err == nil {
			m, err = mech.NewAveragedNoise(g, s.Off)
		}
	case "residuals", "running totals":
		variance, ok1 := new(big.Rat).SetString(s.Variance)
		reach, ok2 := new(big.Rat).SetString(s.Reach)
		if !ok1 || !ok2 {
			return pricing.Noise{}, ErrUnreadable
		}
		cost := dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Amount(s.Amount)}
		m, err = mech.NewMarginalNoise(s.Mechanism, dp.NewL2Squared(d), cost, variance, reach)
	default:
		err = ErrUnreadable
	}
	return pricing.Noise{Mechanism: m}, err
}

// A source is found under the names of its families: one for the question itself at other prices,
// and one for the questions that are made of its groups. A family has numbered slots, which are
// taken in order. The ledger finds keys in memory, so looking is cheap, and nothing has to be read
// before the first question. A family that is full takes no more.
const (
	sameSlots = 16
	cellSlots = 256
)

// sameFamily is where the question itself is found, at whatever price.
func sameFamily(b *pricing.Purchase, version string) string {
	return placed(version, "same", b.Query.Hash())
}

func placed(version, kind, family string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %s %s", version, kind, family)
	return kind + ":" + hex.EncodeToString(h.Sum(nil)[:20])
}

func slot(family string, n int) string { return family + ":" + strconv.Itoa(n) }
