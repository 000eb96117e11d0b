package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/cells"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/mech"
)

// source is what was released for a purchase, with all that is needed to make other answers of it:
// the noise that is in the numbers, and what the groups are.
type source struct {
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
	if m, ok := n.Mechanism.(*mech.Marginal); ok {
		reach := m.Reach()
		return storedNoise{Mechanism: n.Name(), Sensitivity: n.Sensitivity().L2Squared().String(), Amount: uint64(n.Cost().Rho),
			Variance: m.Parameter().RatString(), Reach: reach.Add(reach, big.NewRat(off, 1)).RatString()}
	}
	if m, ok := n.Mechanism.(*mech.Average); ok {
		off = m.Off()
	}
	if n.Norm() != dp.L1 && off > 0 { // mech.Averaged
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
			m, err = mech.NewAverage(g, s.Off)
		}
	case "residuals", "running totals":
		variance, ok1 := new(big.Rat).SetString(s.Variance)
		reach, ok2 := new(big.Rat).SetString(s.Reach)
		if !ok1 || !ok2 {
			return pricing.Noise{}, ErrUnreadable
		}
		cost := dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Amount(s.Amount)}
		m, err = mech.NewMarginal(s.Mechanism, dp.NewL2Squared(d), cost, variance, reach)
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
