package audit

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/finding"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

var (
	fresh = flag.Bool("fresh", false, "draw new randomness in every run")
	soak  = flag.Bool("soak", false, "run the honest code for minutes")
)

// seededSources makes sources that repeat themselves, unless -fresh is given.
func seededSources(seed int) func(string, int) *noise.Source {
	if *fresh {
		return func(string, int) *noise.Source { return noise.NewSource() }
	}
	return func(name string, part int) *noise.Source {
		return entropy.FromReader(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%d %s %d", seed, name, part))))
	}
}

func audited(t testing.TB, m Mechanism, samples int) []finding.Finding {
	t.Helper()
	var out []finding.Finding
	for f, err := range Audit(context.Background(), []Mechanism{m}, Options{Samples: samples, Source: seededSources(1)}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}
