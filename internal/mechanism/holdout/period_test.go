package holdout

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
)

// periodicHost is a host whose budget is renewed.
type periodicHost struct {
	*session.Memory
	period uint64
}

func (h *periodicHost) Period(context.Context) (uint64, error) { return h.period, nil }

// TestRoundEndsWithItsWindow: a question in another window pays for a round of its own, also where
// one is open that an earlier window has paid for.
func TestRoundEndsWithItsWindow(t *testing.T) {
	h := &periodicHost{richHost(), 1}
	s := open(small(), mech.NewReleaser(detrand.Noise("window", 1)), h)
	renewed := 0
	for _, q := range script(1, 30) {
		isOpen, before := s.state.open != nil, h.Spent()
		if isOpen {
			h.period++
		}
		a, err := s.Ask(ctx, q)
		if err != nil || a.Again {
			continue
		}
		if isOpen {
			if renewed++; h.Spent() == before {
				t.Fatal("an answer is of a round that an earlier window has paid for")
			}
		}
	}
	if renewed == 0 {
		t.Error("no round was open when a window began")
	}
}
