package curator

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/mech"
)

// secret is an exact value that no noise of these tests happens to leave as it is.
const secret = 987_654_321

// marked is an engine whose every exact value is the secret.
type marked struct{ engine.Engine }

func (m marked) Run(_ context.Context, q *tree.Query) (*engine.Result, error) {
	out := make([]exact.Vector, len(q.Measures))
	for i := range out {
		v := make([]int64, q.Groups())
		for j := range v {
			v[j] = secret
		}
		out[i] = exact.Seal(v)
	}
	return &engine.Result{Measures: out}, nil
}

// shows returns how a value shows the secret, or nothing.
func shows(v any) string {
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x", "%X", "%q", "%o", "%b", "%c", "%U", "%e", "%t", "%p"} {
		if text := fmt.Sprintf(verb, v); spells(text) {
			return verb
		}
	}
	if text, err := json.Marshal(v); spells(string(text)) || err != nil && spells(err.Error()) {
		return "json"
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil && spells(err.Error()) {
		return "gob"
	}
	var whole bytes.Buffer
	gob.NewEncoder(&whole).Encode(int64(secret))
	if tail := whole.Bytes()[len(whole.Bytes())-4:]; bytes.Contains(b.Bytes(), tail) {
		return "gob"
	}
	return ""
}

func spells(text string) bool {
	for _, format := range []string{"%d", "%x", "%X", "%o", "%b", "%.3e"} {
		if strings.Contains(text, fmt.Sprintf(format, secret)) {
			return true
		}
	}
	return false
}

func TestNothingShowsExactValues(t *testing.T) {
	w := newWorld(t, plenty)
	r := w.record()
	r.Engine = marked{w.data}
	var calls []mech.Call
	w.releaser.noise.Record(func(c mech.Call) { calls = append(calls, c) })
	a := w.mustAsk("SELECT sex, COUNT(*), SUM(cost), AVG(age) FROM patients GROUP BY sex")
	if len(calls) != 3 || calls[0].Values.Open()[0] != secret {
		t.Fatalf("%d calls", len(calls))
	}
	type inside struct {
		private exact.Vector
		Public  exact.Vector
		deep    []any
	}
	sealed := calls[0].Values
	for name, v := range map[string]any{
		"answer": a, "answer's fields": *a, "call": calls[0], "vector": sealed, "pointer": &sealed, "slice": []exact.Vector{sealed},
		"map": map[string]exact.Vector{"a": sealed}, "struct": inside{sealed, sealed, []any{sealed}},
		"pointer to struct": &inside{private: sealed},
		"array":             [1]inside{{private: sealed}}, "error": fmt.Errorf("failed at %v %d %#v", sealed, sealed, sealed),
		"charge": r.charges[0], "kept": string(r.kept[0]), "wrapped": errors.Join(fmt.Errorf("%w: %s", dp.ErrAmount, calls[0].Values)),
	} {
		if how := shows(v); how != "" {
			t.Errorf("the %s shows an exact value with %s", name, how)
		}
	}
	// The test sees a value that is shown.
	for name, v := range map[string]any{"number": int64(secret), "slice": []int64{secret}, "struct": struct{ x []int64 }{[]int64{secret}},
		"error": fmt.Errorf("%x", secret)} {
		if shows(v) == "" {
			t.Errorf("a %s that shows the secret was not noticed", name)
		}
	}
}

// talkative is an engine whose errors hold data, as no engine's may.
type talkative struct{ engine.Engine }

func (talkative) Run(context.Context, *tree.Query) (*engine.Result, error) {
	return nil, fmt.Errorf("cannot cast %d", secret)
}

// The choke point does not rely on engines to keep quiet.
func TestErrorsOfTheEngineAreNotPassedOn(t *testing.T) {
	w := newWorld(t, plenty)
	w.record().Engine = talkative{w.data}
	_, err := w.ask("SELECT COUNT(*) FROM patients")
	if err != interactive.ErrRun || shows(err) != "" {
		t.Errorf("got %v", err)
	}
}
