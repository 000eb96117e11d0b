package labels

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
)

// Spec says what a file of labels holds. All of it is public.
type Spec struct {
	// Column is the label's, and ID that of the identifiers; empty where predictions are in the
	// order of the file.
	Column, ID string
	// Steps is the score of a perfect prediction.
	Steps int64
	// Size is how many rows there have to be; 0 where the file says it.
	Size int64
}

// Limits of a file.
const (
	MaxRows  = 10_000_000
	MaxBytes = 1 << 30
	maxValue = 256 // bytes of a label, an identifier or a prediction
	MaxSteps = 1_000_000
)

// Labels are the labels of a file, sealed. They do not change and are safe for concurrent use.
type Labels struct {
	spec    Spec
	size    int
	version string
	rows    map[string]int // by identifier; nil where there are none
	ids     []string

	// Functions and not values, so that nothing prints them; see package exact.
	codes func() []int64          // for each row: the number of its name, or its steps
	names func() map[string]int64 // the number of a name; nothing where labels are numbers
}

// Size is how many rows there are.
func (l *Labels) Size() int64 { return int64(l.size) }

// Named reports whether rows have identifiers.
func (l *Labels) Named() bool { return l.rows != nil }

// Version names the contents. It is a hash of them, and not for analysts.
func (l *Labels) Version() string { return l.version }

func newVersion(contents []byte) string {
	h := sha256.Sum256(contents)
	return hex.EncodeToString(h[:])
}

// nameOf is the one spelling of a name. A number is one number, however it is written.
func nameOf(text string) string {
	if x, err := dp.ParseDecimal(text); err == nil {
		return "number " + x.RatString()
	}
	return "text " + text
}

// half rounds up from the middle.
var half = big.NewRat(1, 2)

// stepsOf is a number from 0 to 1 in steps, rounded; exactly says that nothing was rounded off.
func stepsOf(text string, steps int64) (n int64, exactly, ok bool) {
	x, err := dp.ParseDecimal(text)
	if err != nil || x.Sign() < 0 || x.Cmp(big.NewRat(1, 1)) > 0 {
		return 0, false, false
	}
	x.Mul(x, new(big.Rat).SetInt64(steps))
	exactly = x.IsInt()
	x.Add(x, half)
	return new(big.Int).Quo(x.Num(), x.Denom()).Int64(), exactly, true // between 0 and steps
}
