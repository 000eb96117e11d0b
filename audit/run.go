package audit

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/discreet-dp/discreet/internal/audit/finding"
	"github.com/discreet-dp/discreet/noise"
)

// Options say how hard to try. The zero value is a good choice.
type Options struct {
	// Samples is how often a mechanism is run on each of two neighbours, a million if it
	// is 0.
	Samples int
	// Beta is the probability, at most, that a run refuses an honest claim, 1e-6 if it is
	// 0. The mechanisms of the run share it.
	Beta float64
	// Source makes the randomness of a part of a mechanism's samples. Nil is the operating
	// system's; tests that must repeat themselves give another.
	Source func(mechanism string, part int) *noise.Source
	// Progress, unless it is nil, is told how many mechanisms are done, before each and
	// at the end.
	Progress func(done, of int, next string)
}

const (
	defaultSamples = 1_000_000
	defaultBeta    = 1e-6
	// FewestSamples is where a bound begins to say anything at all: without samples every
	// claim would stand.
	FewestSamples = 100
	// MostSamples is up to where the errors of the bounds in package stat are accounted for.
	MostSamples = 1_000_000_000
)

func (o Options) filled() Options {
	if o.Samples == 0 {
		o.Samples = defaultSamples
	}
	if o.Beta == 0 {
		o.Beta = defaultBeta
	}
	if o.Source == nil {
		o.Source = func(string, int) *noise.Source { return noise.NewSource() }
	}
	if o.Progress == nil {
		o.Progress = func(int, int, string) {}
	}
	return o
}

// ErrSamples is returned when a run is asked for with too few samples to say anything, or
// with too many to be exact about.
var ErrSamples = fmt.Errorf("a mechanism is run from %d to %d times on each input", FewestSamples, MostSamples)

// UnknownError is returned when a mechanism is asked for that is not in the catalogue.
type UnknownError struct {
	Name string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no mechanism %q; write one of %s", e.Name, strings.Join(Names(), ", "))
}

// Find returns the mechanisms of these names, or all of them for none.
func Find(names ...string) ([]Mechanism, error) {
	all := Catalogue()
	if len(names) == 0 {
		return all, nil
	}
	var out []Mechanism
	taken := map[string]bool{}
	for _, name := range names {
		found := false
		for _, m := range all {
			if m.Name == name {
				found = true
				if !taken[name] {
					out = append(out, m)
				}
				taken[name] = true
			}
		}
		if !found {
			return nil, &UnknownError{name}
		}
	}
	return out, nil
}

// Run audits the mechanisms of the catalogue with these names, all of them where none is
// given, and yields what it finds as it finds it. It ends with the first error: a name
// that is unknown, a number of samples out of range, or a context that was cancelled.
func Run(ctx context.Context, names []string, o Options) iter.Seq2[finding.Finding, error] {
	return func(yield func(finding.Finding, error) bool) {
		mechanisms, err := Find(names...)
		if err != nil {
			yield(finding.Finding{}, err)
			return
		}
		Audit(ctx, mechanisms, o)(yield)
	}
}

// Audit is Run for mechanisms that need not be in the catalogue.
func Audit(ctx context.Context, mechanisms []Mechanism, o Options) iter.Seq2[finding.Finding, error] {
	o = o.filled()
	return func(yield func(finding.Finding, error) bool) {
		if o.Samples < FewestSamples || o.Samples > MostSamples {
			yield(finding.Finding{}, fmt.Errorf("%w, and not %d", ErrSamples, o.Samples))
			return
		}
		for i, m := range mechanisms {
			o.Progress(i, len(mechanisms), m.Name)
			source := func(part int) *noise.Source { return o.Source(m.Name, part) }
			found, err := m.prepare().sample(ctx, o.Samples, source, o.Beta/float64(len(mechanisms)))
			if err != nil {
				yield(finding.Finding{}, err)
				return
			}
			for _, f := range found {
				if !yield(f, nil) {
					return
				}
			}
		}
		o.Progress(len(mechanisms), len(mechanisms), "")
	}
}
