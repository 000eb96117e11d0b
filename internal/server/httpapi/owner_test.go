package httpapi

import (
	"crypto/ed25519"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/ledger"
)

// renewed is a budget with three windows.
const renewed = "{epsilon: 10, renewal: {every: month, windows: 3}}"

// ownerKey gives the ledger of a world an owner.
func (w *world) ownerKey() ed25519.PrivateKey {
	w.t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	must(w.t, w.db.SetOwner(w.t.Context(), key.Public().(ed25519.PublicKey), nil, "the first"))
	return key
}

// sign signs the draft of a reply, and returns the body that the draft was asked with, with text
// and signature.
func (w *world) sign(key ed25519.PrivateKey, draft reply, body string) string {
	w.t.Helper()
	text := w.want(draft, 200).get("draft", "text").(string)
	members := map[string]any{}
	must(w.t, json.Unmarshal([]byte(body), &members))
	maps.Copy(members, map[string]any{"text": text, "signature": hex.EncodeToString(ed25519.Sign(key, []byte(text)))})
	out, err := json.Marshal(members)
	must(w.t, err)
	return string(out)
}

// The three things that an owner signs for.
var signedThings = []struct{ at, body string }{
	{"/v1/datasets/hospital/topups", `{"epsilon": 0.5, "reason": "the yearly report"}`},
	{"/v1/datasets/hospital/topups", `{"analyst": "ana", "epsilon": "0.25", "reason": "a revision"}`},
	{"/v1/datasets/hospital/renewals", `{"reason": "February"}`},
	{"/v1/datasets/hospital/releases", `{"analyst": "ana", "reason": "the disk was full"}`},
}

// troubled is a world with a renewed budget, in which a question of Ana's has failed.
func troubled(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	furnish(t, dir, hospital.New(people, 1), policyText(renewed))
	l, err := sqlite.Open(filepath.Join(dir, "policy.ledger"))
	must(t, err)
	if _, err := l.Fail(t.Context(), ledger.Incident{Analyst: "ana", Dataset: "hospital", Failure: ledger.FailedMemory, ByAnalyst: 1,
		ByDataset: 3}); err != nil {
		t.Fatal(err)
	}
	must(t, l.Close())
	return newWorldIn(t, dir)
}

// TestSignedWhileItRuns: a top-up, a renewal and a release are drafted, signed elsewhere, and
// written, while questions go on, and a session whose every answer is a record.
func TestSignedWhileItRuns(t *testing.T) {
	w := troubled(t)
	key := w.ownerKey()
	if got := w.want(w.call("GET", "/v1/datasets/hospital/incidents", "olga", ""), 200); got.get("shut_out", "0") != "ana" ||
		number(got, "open") != "1" || got.get("incidents", "0", "failure") != "memory" {
		t.Error(got.body)
	}
	for i, c := range signedThings {
		draft := w.call("POST", c.at+"/draft", "olga", c.body)
		body := w.sign(key, draft, c.body)
		w.want(w.call("POST", "/v1/query", "ben", fmt.Sprintf(`{"dataset":"hospital","sql":"SELECT COUNT(*) FROM patients WHERE age > %d"}`, i)), 200)
		session := w.want(w.call("POST", "/v1/sessions", "ben", `{"kind":"sparse","dataset":"hospital","epsilon":0.1}`), 201).get("id").(string)
		for range 3 {
			w.want(w.call("POST", "/v1/sessions/"+session+"/ask", "ben", `{"sql":"SELECT COUNT(*) FROM patients","threshold":1000000}`), 200)
		}
		wrote := w.want(w.call("POST", c.at, "olga", body), 201)
		if wrote.get("again") != false {
			t.Error(draft.body, wrote.body)
		}
		before := w.call("GET", "/v1/ledger/head", "olga", "").body
		if got := w.want(w.call("POST", c.at, "olga", body), 201); got.get("again") != true ||
			number(got, "sequence") != number(wrote, "sequence") {
			t.Error(got.body)
		}
		if after := w.call("GET", "/v1/ledger/head", "olga", "").body; after != before {
			t.Errorf("%s was written twice: %s, then %s", c.at, before, after)
		}
		sequence, _ := strconv.Atoi(number(wrote, "sequence"))
		text := w.want(w.call("GET", "/v1/ledger?limit=1&after="+strconv.Itoa(sequence-1), "olga", ""), 200).get("records", "0", "record")
		var record, drafted ledger.Record
		must(t, errors.Join(record.Decode(text.(string)), drafted.DecodeSigned(draft.get("draft", "text").(string))))
		follows := ledger.Position{Sequence: drafted.Sequence, Hash: drafted.Previous}
		if string(record.Signed(follows)) != draft.get("draft", "text") ||
			number(draft, "draft", "follows") != fmt.Sprint(follows.Sequence) {
			t.Errorf("what was signed is not what was written: %s", text)
		}
	}
	if got := w.want(w.call("GET", "/v1/datasets/hospital/incidents", "olga", ""), 200); got.get("shut_out", "0") != nil ||
		number(got, "open") != "0" {
		t.Error(got.body)
	}
	budget := w.want(w.call("GET", "/v1/datasets/hospital/budget", "olga", ""), 200)
	if !strings.Contains(budget.body, `"hospital#2"`) {
		t.Error(budget.body)
	}
	if got := w.want(w.call("GET", "/v1/audit", "olga", ""), 200); got.get("good") != true {
		t.Error(got.body)
	}
}

// TestSignedTooLate: what was drafted before something else was decided is stale.
func TestSignedTooLate(t *testing.T) {
	w := troubled(t)
	key := w.ownerKey()
	bodies := map[int]string{}
	for i, c := range signedThings {
		bodies[i] = w.sign(key, w.call("POST", c.at+"/draft", "olga", c.body), c.body)
	}
	between := signedThings[1]
	w.want(w.call("POST", between.at, "olga", bodies[1]), 201)
	for i, c := range signedThings {
		if i == 1 {
			continue
		}
		if got := w.want(w.call("POST", c.at, "olga", bodies[i]), 409); got.get("kind") != "stale" ||
			!strings.Contains(got.body, "decided") {
			t.Error(got.body)
		}
	}
	// What was written is told again, however many decisions came after it.
	for range 2 {
		draft := w.call("POST", between.at+"/draft", "olga", between.body)
		w.want(w.call("POST", between.at, "olga", w.sign(key, draft, between.body)), 201)
	}
	if got := w.want(w.call("POST", between.at, "olga", bodies[1]), 201); got.get("again") != true {
		t.Error(got.body)
	}
}

// TestNothingWithoutTheKey: an owner's session alone, another's key, and a signature for something
// else write nothing.
func TestNothingWithoutTheKey(t *testing.T) {
	w := troubled(t)
	for _, c := range signedThings { // a ledger without an owner
		if got := w.want(w.call("POST", c.at+"/draft", "olga", c.body), 403); got.get("kind") != "signature" {
			t.Error(got.body)
		}
	}
	key := w.ownerKey()
	before := w.call("GET", "/v1/ledger/head", "olga", "").body
	other := ed25519.NewKeyFromSeed([]byte(strings.Repeat("x", ed25519.SeedSize)))
	for _, c := range signedThings {
		draft := w.call("POST", c.at+"/draft", "olga", c.body)
		if got := w.want(w.call("POST", c.at, "olga", w.sign(other, draft, c.body)), 403); got.get("kind") != "signature" {
			t.Error(got.body)
		}
		if got := w.want(w.call("POST", c.at, "olga", c.body), 422); got.get("kind") != "invalid" {
			t.Error(got.body)
		}
		// The signature is good, and for another request.
		signed := w.sign(key, draft, c.body)
		for from, to := range map[string]string{`"reason":"`: `"reason":"not `, `0.5`: `0.6`, `"0.25"`: `"0.5"`} {
			changed := strings.Replace(signed, from, to, 1)
			if changed == signed || strings.Contains(c.at, "topups") == (from == `"reason":"`) {
				continue
			}
			if got := w.want(w.call("POST", c.at, "olga", changed), 403); got.get("kind") != "signature" {
				t.Error(got.body)
			}
		}
		text := draft.get("draft", "text").(string)
		old := strings.Replace(text, "T", "T0", 1)
		garbage := fmt.Sprintf(`,"text":%q,"signature":"%s"}`, old, hex.EncodeToString(ed25519.Sign(key, []byte(old))))
		w.want(w.call("POST", c.at, "olga", strings.TrimSuffix(c.body, "}")+garbage), 403)
		for _, at := range []string{c.at, c.at + "/draft"} {
			body := c.body
			if at == c.at {
				body = signed
			}
			if got := w.want(w.call("POST", at, "ana", body), 403); got.get("kind") != "role" {
				t.Error(got.body)
			}
		}
	}
	w.want(w.call("GET", "/v1/datasets/hospital/incidents", "ana", ""), 403)
	w.want(w.call("GET", "/v1/datasets/nothing/incidents", "olga", ""), 404)
	if after := w.call("GET", "/v1/ledger/head", "olga", "").body; after != before {
		t.Errorf("something was written: %s, then %s", before, after)
	}
}

// slow is a world with a dataset whose questions about s take DuckDB many seconds, and a dispatcher
// that has a fifth of one.
func slow(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	furnish(t, dir, hospital.New(people, 1), policyText("{epsilon: 10}")+`  heavy:
    engine: duckdb
    source: heavy.duckdb
    unit: people.pid
    budget: {epsilon: 10, per_query: {default: 0.1}}
    analysts: {ana: {}, ben: {}}
    release: tick
    tables: {people: {unique: pid, columns: {s: {type: text}}}}
`)
	path := filepath.Join(dir, "heavy.duckdb")
	db, err := sql.Open("duckdb", path)
	must(t, err)
	if _, err :=
		db.Exec(
			`CREATE TABLE people AS SELECT range AS pid, md5(CAST(range AS VARCHAR)) || md5(CAST(range + 1 AS VARCHAR)) AS s FROM range(300000)`); err != nil {
		t.Fatal(err)
	}
	must(t, db.Close())
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	w := newWorldIn(t, dir)
	w.want(w.call("POST", "/v1/query", "ana", short), 200) // opens the data
	d := admission.New(w.db, admission.Options{Rate: 100_000_000, Timeout: 200 * time.Millisecond})
	w.configure(func(o *Options) { o.Dispatcher = d })
	return w
}

const short = `{"dataset":"heavy","sql":"SELECT COUNT(*) FROM people"}`

// long is a question that takes long, another one for every n.
func long(n int) string {
	var like []string
	for i := range 12 {
		like = append(like, fmt.Sprintf("s LIKE '%%%x%%a%%b%%c%%d%%%x%%e%%f%%0%%1%%2%%3%%4%%5%%6%%7%%8%%9%%%d%%'", i%16, 15-i%16, n+100*i))
	}
	return fmt.Sprintf(`{"dataset":"heavy","sql":%q}`, "SELECT COUNT(*) FROM people WHERE "+strings.Join(like, " OR "))
}

// The owner's limit of time stops DuckDB after the charge. That is told once; from then on the
// analyst gets what was paid for and nothing new, others go on, and the owner sees it.
func TestIncident(t *testing.T) {
	if testing.Short() {
		t.Skip("the questions take seconds")
	}
	t.Parallel() // it waits
	w := slow(t)
	if got := w.want(w.call("POST", "/v1/query", "ana", long(1)), 504); !strings.Contains(got.body, "the server's time limit") ||
		!strings.Contains(got.body, "no new answers until its owner has released it") {
		t.Error(got.body)
	}
	// A busy machine takes long for everything else.
	w.configure(func(o *Options) { o.Dispatcher = admission.New(w.db, admission.Options{Rate: 100_000_000}) })
	for range 2 {
		got := w.want(w.call("POST", "/v1/query", "ana", long(2)), 423)
		if got.get("kind") != "closed" || got.get("spent") != false || !strings.Contains(got.body, "until its owner releases it") {
			t.Error(got.body)
		}
		w.want(w.call("POST", "/v1/query", "ana", short), 200)
	}
	if got := w.want(w.call("POST", "/v1/explain", "ana", long(2)), 200); got.get("closed") != true {
		t.Error(got.body)
	}
	w.want(w.call("POST", "/v1/query", "ana", count), 200) // another dataset
	metrics := w.want(w.call("GET", "/metrics", "olga", ""), 200).body
	for _, line := range []string{`discreet_incidents{dataset="heavy"} 1`, `discreet_closed{dataset="heavy"} 0`,
		`discreet_analysts_shut_out{dataset="heavy"} 1`, `discreet_questions_declined_total{outcome="closed"} 2`} {
		if !strings.Contains(metrics, line) {
			t.Errorf("there is no %s in %s", line, metrics)
		}
	}
	if got := w.want(w.call("GET", "/v1/ledger", "olga", ""), 200); !strings.Contains(got.body, `"failure":"time"`) {
		t.Error(got.body)
	}
	if got := w.want(w.call("GET", "/v1/receipts", "ana", ""), 200); strings.Contains(got.body, "incident") {
		t.Errorf("an analyst sees %s", got.body)
	}
	if _, err := w.db.Release(t.Context(), "heavy", "ana", "a larger machine", nil); err != nil {
		t.Fatal(err)
	}
	w.want(w.call("POST", "/v1/query", "ana", `{"dataset":"heavy","sql":"SELECT COUNT(*) FROM people WHERE s <> 'x'"}`), 200)
}
