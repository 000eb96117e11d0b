// Package labels scores predictions against labels that stay sealed.
//
// A file of labels has one row for each person: an outcome, and perhaps an identifier. How many
// rows there are and what their identifiers are is public, because whoever predicts has to know for
// whom. The labels are private: which label stands in which row, which labels there are at all, and
// how often. Neighbouring files differ in the label of one row.
//
// # Scores
//
// A score is the sum, over the rows, of a whole number from 0 to Steps, and a perfect prediction
// has Steps in every row. So one label moves a score by at most Steps, and the mean, which is the
// sum over Steps times the number of rows, by at most 1/n.
//
//   - Steps is 1: a prediction is a name, right (1) or wrong (0). Names that are numbers are
//     compared as numbers, so that 1.0 is 1; others as text. A name that no label has is wrong like
//     any other: to refuse it would tell which labels there are.
//   - Steps is more: labels and predictions are numbers from 0 to 1, in steps of 1/Steps, and a row
//     scores 1 - |prediction - label|. A prediction between two steps is rounded to the nearer one,
//     and up from the middle.
//
// # Who sees what
//
// What is wrong with predictions ([*PredictionsError]) follows from the predictions, the number of
// rows and the identifiers, and is for analysts. What is wrong with a file of labels ([*FileError])
// names lines and no values, and is for the owner alone: that line 7 is not a number is something
// about line 7. [Labels.Version] is a hash of the contents, so whoever sees it can test guesses of
// all labels at once: it is for a ledger that keys it.
package labels

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"os"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/sealed"
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
	maxRows  = 10_000_000
	maxBytes = 1 << 30
	maxValue = 256 // bytes of a label, an identifier or a prediction
	maxSteps = 1_000_000
)

// Labels are the labels of a file, sealed. They do not change and are safe for concurrent use.
type Labels struct {
	spec    Spec
	size    int
	version string
	rows    map[string]int // by identifier; nil where there are none
	ids     []string

	// Functions and not values, so that nothing prints them; see package sealed.
	codes func() []int64          // for each row: the number of its name, or its steps
	names func() map[string]int64 // the number of a name; nothing where labels are numbers
}

// Size is how many rows there are.
func (l *Labels) Size() int64 { return int64(l.size) }

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

// oneHalf rounds up from the middle.
var oneHalf = big.NewRat(1, 2)

// stepsOf is a number from 0 to 1 in steps, rounded; exactly says that nothing was rounded off.
func stepsOf(text string, steps int64) (n int64, exactly, ok bool) {
	x, err := dp.ParseDecimal(text)
	if err != nil || x.Sign() < 0 || x.Cmp(big.NewRat(1, 1)) > 0 {
		return 0, false, false
	}
	x.Mul(x, new(big.Rat).SetInt64(steps))
	exactly = x.IsInt()
	x.Add(x, oneHalf)
	return new(big.Int).Quo(x.Num(), x.Denom()).Int64(), exactly, true // between 0 and steps
}

// Store has the labels of a file, and reads it anew when it may have changed. It is safe for
// concurrent use.
//
// A file is read because its owner put it there, and not because somebody asks: what is read, and
// whether it can be, is the same whatever is asked.
type Store struct {
	path string
	spec Spec

	mu     sync.Mutex
	now    *Labels
	size   int64
	change time.Time
}

// NewStore returns the store of a file, and does not read it yet.
func NewStore(path string, s Spec) *Store { return &Store{path: path, spec: s} }

// Labels returns the labels as they are now. Its errors are for the owner.
func (s *Store) Labels() (*Labels, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, err := os.Stat(s.path)
	if err != nil {
		return nil, newFileError("the file of labels cannot be opened: %v", err)
	}
	if s.now != nil && at.Size() == s.size && at.ModTime().Equal(s.change) {
		return s.now, nil
	}
	l, err := load(s.path, s.spec)
	if err != nil {
		return nil, err
	}
	if s.now != nil && l.version == s.now.version {
		l = s.now // touched, and the same: predictions that were checked stay good
	}
	s.now, s.size, s.change = l, at.Size(), at.ModTime()
	return l, nil
}

// Score is the exact sum of what the rows score, from 0 to Steps times Size, sealed. It is here
// that private labels are looked at for somebody, so whatever is to be charged is charged before.
// All rows are looked at in the same way, whatever they hold.
func (l *Labels) Score(c *Checked) (sealed.Vector, error) {
	if c == nil || c.of != l {
		return sealed.Vector{}, errOther
	}
	sum := int64(0)
	if c.steps != nil {
		for i, label := range l.codes() {
			d := c.steps[i] - label
			sum += l.spec.Steps - max(d, -d)
		}
		return sealed.Seal([]int64{sum}), nil
	}
	// Names become numbers first, so that what is compared row by row takes the same time for all
	// of them.
	known, predicted := l.names(), make([]int64, l.size)
	for i, name := range c.names {
		n, ok := known[name]
		if !ok {
			n = -1
		}
		predicted[i] = n
	}
	for i, label := range l.codes() {
		if predicted[i] == label {
			sum++
		}
	}
	return sealed.Seal([]int64{sum}), nil
}
