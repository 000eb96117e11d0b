package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/render"
)

var (
	nine    = time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC)
	counted = api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT COUNT(*) FROM t WHERE a > $1",
		Parameters: []api.Parameter{{Kind: "integer", Text: "3"}}}
)

// A question has the same name within an hour, at every server and in every zone, and any other
// question, analyst or hour another one.
func TestRetryNames(t *testing.T) {
	q, at := counted, nine
	name := new(retries).name(q, at)
	if !requestPattern.MatchString(name) || name != new(retries).name(q, at.Add(59*time.Minute+59*time.Second)) ||
		name != new(retries).name(q, at.In(time.FixedZone("there", 5*3600))) {
		t.Error(name)
	}
	seen := map[string]string{name: "the question", new(retries).name(q, at.Add(time.Hour)): "the next hour"}
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
		n := new(retries).name(other, at)
		if seen[n] != "" {
			t.Errorf("another %s has the name of %s", what, seen[n])
		}
		seen[n] = what
	}
}

// A call that is made again after the clock has struck is the same request, for an hour from the
// first.
func TestRetryAcrossTheHour(t *testing.T) {
	var r retries
	first := r.name(counted, nine.Add(59*time.Minute+59*time.Second))
	for _, later := range []time.Duration{0, 2 * time.Second, 30 * time.Minute, 59 * time.Minute} {
		if got := r.name(counted, nine.Add(59*time.Minute+59*time.Second+later)); got != first {
			t.Errorf("%v later it is %s and not %s", later, got, first)
		}
	}
	if r.name(counted, nine.Add(2*time.Hour)) == first {
		t.Error("it is the same request for ever")
	}
}

// Where a name has become another question's the next one is the same at every call and at every
// server: what was charged under it, and whose answer was lost, is not charged again.
func TestRetryOfAnother(t *testing.T) {
	var r, other retries
	first := r.name(counted, nine)
	second := r.next(counted, first, nine)
	if second == first || r.name(counted, nine.Add(time.Minute)) != second {
		t.Errorf("%s and %s", first, second)
	}
	if got := r.next(counted, first, nine); got != second { // two calls at once
		t.Errorf("%s and %s", got, second)
	}
	if got := other.next(counted, other.name(counted, nine.Add(time.Minute)), nine.Add(time.Minute)); got != second {
		t.Errorf("another server says %s and not %s", got, second)
	}
}

// What is remembered is bounded, and the oldest is forgotten first.
func TestRetriesAreBounded(t *testing.T) {
	var r retries
	r.name(counted, nine)
	r.name(counted, nine.Add(3*time.Hour)) // anew: the first place counts no more
	for i := range 2 * maxRetries {
		if _, ok := r.of[digestOf(counted)]; ok != (i < maxRetries) {
			t.Fatalf("after %d others it is remembered: %v", i, ok)
		}
		q := counted
		q.SQL = fmt.Sprint(i)
		r.name(q, nine.Add(3*time.Hour))
	}
	if len(r.of) > maxRetries || len(r.order) > maxRetries {
		t.Errorf("%d and %d are remembered", len(r.of), len(r.order))
	}
}

// A key that people have entered is told so that whoever looks at a result sees all of it, and
// programs read it as it is.
func TestNothingIsHidden(t *testing.T) {
	const key = "town\u202eevig \x1b[2J\U000E0049\U000E0067\u2028end\u200b\ufe01\u3164 é 漢 👩\u200d👧"
	a := &api.Answer{Columns: []api.Column{{Name: "town", Kind: "text"}}, Rows: [][]any{{key}}}
	var text strings.Builder
	render.Answer(&text, a)
	result := tool{}.result(&reply{text.String(), Answered{a, "x", 0}})
	whole, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	words := result.Content[0].(*mcp.TextContent).Text
	if !strings.Contains(words, "town?evig ?[2J???end??? é 漢 👩?👧") {
		t.Errorf("%q", words)
	}
	if strings.ContainsAny(string(whole), "\u202e\x1b\U000E0049\U000E0067\u2028\u200b\ufe01\u3164\u200d") {
		t.Errorf("%q", whole)
	}
	var back struct{ Rows [][]string }
	if err := json.Unmarshal(result.StructuredContent.(json.RawMessage), &back); err != nil || back.Rows[0][0] != key {
		t.Errorf("%q %v", back, err)
	}
}
