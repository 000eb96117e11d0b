package groupcommit

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// TestKeptMeanwhile: who has found no answer under a key is not charged where there is one by now.
func TestKeptMeanwhile(t *testing.T) {
	l := world().Open(t)
	c := ask("b", hospital(10))
	c.Missed = []string{"key"}
	mustKeep(t, l, mustCharge(t, l, ask("a", hospital(10))).Sequence, ledger.JoinKeys("other", "key"), "42")
	if _, err := l.Charge(ctx, c); !errors.Is(err, ledger.ErrBehind) || spent(t, l, "hospital") != 1 {
		t.Errorf("%v, and %d were spent", err, spent(t, l, "hospital"))
	}
	c.Missed = []string{"another key"}
	mustCharge(t, l, c)
}

// TestChangedMeanwhile: a charge is about the data that whoever asks has looked at. Where another
// charge has recorded other data since, it is refused.
func TestChangedMeanwhile(t *testing.T) {
	l := world().Open(t)
	first := ask("a", hospital(10))
	first.DataVersion, first.Looked = "1", true
	stale := ask("b", hospital(10))
	stale.DataVersion, stale.Looked = "0", true
	mustCharge(t, l, first)
	if _, err := l.Charge(ctx, stale); !errors.As(err, new(*ledger.VersionError)) || spent(t, l, "hospital") != 1 {
		t.Errorf("%v, and %d were spent", err, spent(t, l, "hospital"))
	}
}
