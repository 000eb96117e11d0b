package server

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestTickOfOneOwn: for who has the data on this machine, only what the policy names is a tick.
func TestTickOfOneOwn(t *testing.T) {
	for release, want := range map[string]time.Duration{
		"    # release:\n": 0, "    release: tick\n": 100 * time.Millisecond, "    release: {tick: 150ms}\n": 150 * time.Millisecond,
		"    release: immediate\n": 0,
	} {
		c := world(t, release)
		c.Immediate = true
		if got := opened(t, c).Ticks()["hospital"]; got != want {
			t.Errorf("%s: %v", release, got)
		}
	}
}

// TestTickByDefault: where the policy says nothing, answers leave on a tick that is chosen by the
// size of the data; the owner can set it, and turn it off.
func TestTickByDefault(t *testing.T) {
	t.Parallel() // it waits
	for release, want := range map[string]time.Duration{
		"    # release:\n": 100 * time.Millisecond, "    release: tick\n": 100 * time.Millisecond,
		"    release: {tick: 150ms}\n": 150 * time.Millisecond, "    release: immediate\n": 0,
	} {
		c := world(t, release)
		s := opened(t, c)
		if got := s.Ticks()["hospital"]; got != want {
			t.Errorf("%s: %v", release, got)
		}
		// A refusal takes no time by itself.
		token, ask := tokenOf(t, c), 0
		begin := time.Now()
		for ; ask < 5; ask++ {
			r, err := http.NewRequest("POST", "http://"+s.HTTPAddr().String()+"/v1/query",
				strings.NewReader(`{"sql": "SELECT pid FROM patients"}`))
			must(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+token)
			a, err := http.DefaultClient.Do(r)
			must(t, err)
			io.Copy(io.Discard, a.Body)
			a.Body.Close()
			if ask == 0 {
				begin = time.Now() // it has left on a tick
			}
		}
		if took, least := time.Since(begin), 4*want-want/2; took < least {
			t.Errorf("%s: four refusals took %v, and a tick is %v", release, took, want)
		}
	}
}
