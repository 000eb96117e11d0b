package stream

import (
	"bytes"
	"context"
	"testing"

	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
)

// periodicHost is a host whose budget is renewed.
type periodicHost struct {
	*session.Memory
	period uint64
}

func (h *periodicHost) Period(context.Context) (uint64, error) { return h.period, nil }

// TestRoundIsTheWrittenOne: the threshold that questions are compared with is the one that was
// written down for its charge, to the byte, and a round ends with the window that paid for it.
func TestRoundIsTheWrittenOne(t *testing.T) {
	c, data, _ := small(t, mech.Pure)
	h := &periodicHost{host(c), 1}
	s := must(Open(t.Context(), c, loaderOf(data), releaser(1), h))
	opened, renewed := 0, 0
	for _, q := range questions(t, c.Domain, 150, 1) {
		before, open := s.state.rounds, s.state.secret != nil
		if open && renewed < 3 {
			h.period++
			renewed++
		} else {
			open = false
		}
		a := must(s.Ask(t.Context(), q))
		if open && s.state.rounds == before && (s.state.secret != nil || a.Way == Predicted || a.Way == Paid) {
			t.Fatalf("an answer of the kind %s is of a round that an earlier window has paid for", a.Way)
		}
		if s.state.secret != nil {
			if opened++; s.round == nil || !bytes.Equal(s.round.Secret(), s.state.secret) {
				t.Fatal("another process would go on with another threshold")
			}
		}
	}
	if opened == 0 || renewed < 3 {
		t.Errorf("%d questions left a round open, and %d windows began", opened, renewed)
	}
}
