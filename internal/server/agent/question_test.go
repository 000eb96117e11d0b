package agent

import (
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// A question has the same name within an hour, and any other question, analyst or hour another one.
func TestNamed(t *testing.T) {
	at := time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC)
	q := api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT COUNT(*) FROM t WHERE a > $1",
		Parameters: []api.Parameter{{Kind: "integer", Text: "3"}}}
	name := named(q, at)
	if !requests.MatchString(name) || name != named(q, at.Add(59*time.Minute+59*time.Second)) ||
		name != named(q, at.In(time.FixedZone("there", 5*3600))) {
		t.Error(name)
	}
	seen := map[string]string{name: "the question", named(q, at.Add(time.Hour)): "the next hour"}
	if anew(q, at) == anew(q, at.Add(time.Nanosecond)) {
		t.Error("two new names are one")
	}
	for what, change := range map[string]func(*api.Question){
		"dataset":   func(q *api.Question) { q.Dataset = "e" },
		"analyst":   func(q *api.Question) { q.Analyst = "ben" },
		"text":      func(q *api.Question) { q.SQL += " " },
		"parameter": func(q *api.Question) { q.Parameters = []api.Parameter{{Kind: "integer", Text: "4"}} },
		"kind":      func(q *api.Question) { q.Parameters = []api.Parameter{{Kind: "text", Text: "3"}} },
		"null":      func(q *api.Question) { q.Parameters = []api.Parameter{{Null: true}} },
		"epsilon":   func(q *api.Question) { q.Epsilon = dp.One },
		"setting":   func(q *api.Question) { q.Settings.Confidence = 0.5 },
		"error":     func(q *api.Question) { q.Settings.Set("dp.error", "10") },
		"errors":    func(q *api.Question) { q.Settings.Set("dp.error", "11") },
	} {
		other := q
		change(&other)
		n := named(other, at)
		if seen[n] != "" {
			t.Errorf("another %s has the name of %s", what, seen[n])
		}
		seen[n] = what
	}
}
