package httpapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/ledger"
)

// ask asks so many questions, each for epsilon 0.5.
func (w *world) ask(analyst string, from, to int) {
	w.t.Helper()
	for i := from; i < to; i++ {
		w.want(w.call("POST", "/v1/query", analyst,
			fmt.Sprintf(`{"dataset":"hospital","sql":"SELECT COUNT(*) FROM patients WHERE age > %d","epsilon":0.5}`, i)), 200)
	}
}

// TestSpending: what was spent by whom and when, with all of it for the owner and one's own for
// analysts.
func TestSpending(t *testing.T) {
	w := newWorldOf(t, hospital.New(people, 1), renewed)
	if left := time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)); left < 20*time.Second {
		time.Sleep(left) // so that all of it is in one hour
	}
	w.ask("ana", 0, 8)
	w.ask("ben", 10, 12)
	all := w.want(w.call("GET", "/v1/datasets/hospital/spending", "olga", ""), 200)
	spans := all.get("spans").([]any)
	last := reply{json: spans[len(spans)-1]}
	if len(spans) != 30 || number(last, "charges") != "10" || number(last, "cost", "epsilon") != "5" ||
		last.get("analysts", "0", "analyst") != "ana" || number(last, "analysts", "0", "cost", "epsilon") != "4" ||
		number(last, "analysts", "1", "charges") != "2" {
		t.Errorf("%d spans, the last %v", len(spans), last.json)
	}
	if all.get("claim") != "epsilon" || number(all, "window", "number") != "1" || all.get("window", "due") == nil {
		t.Error(all.body)
	}
	// Half of the window is spent.
	if !strings.Contains(all.body, `{"account":"hospital#1","kind":"spent","percent":50,`) {
		t.Error(all.body)
	}
	own := w.want(w.call("GET", "/v1/datasets/hospital/spending?bucket=hour", "ben", ""), 200)
	if strings.Contains(own.body, `"ana"`) || strings.Contains(own.body, `"hospital#1"`) || own.get("window", "due") != nil {
		t.Error(own.body)
	}
	if spans = own.get("spans").([]any); number(reply{json: spans[29]}, "cost", "epsilon") != "1" {
		t.Error(own.body)
	}
	same(t, "another's spending", w.want(w.call("GET", "/v1/datasets/clinic/spending", "ana", ""), 404),
		w.want(w.call("GET", "/v1/datasets/nothing/spending", "ana", ""), 404))
	for query, status := range map[string]int{"?from=2020-01-01T00:00:00Z&bucket=hour": 422, "?to=2020-01-01T00:00:00Z": 200,
		"?bucket=year": 422, "?from=2026-01-05T00:00:00Z&to=2026-01-01T00:00:00Z": 422, "?from=2020-01-01T00:00:00Z&bucket=week": 200} {
		w.want(w.call("GET", "/v1/datasets/hospital/spending"+query, "olga", ""), status)
	}
}

// TestSpans: days and weeks begin where people think they do.
func TestSpans(t *testing.T) {
	at := time.Date(2026, 11, 15, 23, 59, 59, 0, time.UTC) // a Sunday
	for bucket, want := range map[string]string{"hour": "2026-11-15T23", "day": "2026-11-15T00", "week": "2026-11-09T00"} {
		if got := spanStart(at, bucket).Format("2006-01-02T15"); got != want {
			t.Errorf("%s: %s", bucket, got)
		}
		if got := spanStart(addSpans(spanStart(at, bucket), bucket, 1), bucket); !got.Equal(addSpans(spanStart(at, bucket), bucket, 1)) {
			t.Errorf("the next %s is %v", bucket, got)
		}
	}
}

// TestReceiptsAreFound: newest first, page by page, and by everything that can be searched for.
func TestReceiptsAreFound(t *testing.T) {
	w := newWorld(t)
	w.ask("ana", 0, 5)
	w.ask("ben", 10, 15)
	list := func(user, query string) []any {
		t.Helper()
		return w.want(w.call("GET", "/v1/receipts?"+query, user, ""), 200).get("receipts").([]any)
	}
	forward := list("olga", "")
	if len(forward) != 10 {
		t.Fatal(len(forward))
	}
	var back []any
	next := ""
	for range 20 {
		page := w.want(w.call("GET", "/v1/receipts?newest=true&limit=3"+next, "olga", ""), 200)
		back = append(back, page.get("receipts").([]any)...)
		if page.get("next") == nil {
			break
		}
		next = "&before=" + number(page, "next")
	}
	if len(back) != 10 {
		t.Fatal(len(back))
	}
	for i := range back {
		if fmt.Sprint(back[i]) != fmt.Sprint(forward[9-i]) {
			t.Errorf("place %d is %v", i, back[i])
		}
	}
	one := reply{json: forward[7]}
	for query, want := range map[string]int{"analyst=ben": 5, "analyst=nobody": 0, "dataset=hospital": 10, "dataset=clinic": 0,
		"since=2020-01-01T00:00:00Z": 10, "until=2020-01-01T00:00:00Z": 0, "query=" + one.get("query").(string): 1,
		"receipt=" + one.get("hash").(string)[:16]: 1, "analyst=ana&receipt=" + one.get("hash").(string): 0} {
		for _, newest := range []string{"&newest=true", ""} {
			if got := list("olga", query+newest); len(got) != want {
				t.Errorf("%s has %d", query+newest, len(got))
			}
		}
	}
	for _, query := range []string{"analyst=ben", "newest=true&analyst=ben", "receipt=" + one.get("hash").(string)} {
		for _, r := range list("ana", query) {
			if (reply{json: r}).get("analyst") != "ana" {
				t.Errorf("Ana sees %v", r)
			}
		}
	}
	for _, query := range []string{"newest=true&after=3", "before=3", "query=XYZ"} {
		w.want(w.call("GET", "/v1/receipts?"+query, "olga", ""), 422)
	}
}

// TestReceiptsCountNobodyElse: the pages of an analyst end where their own charges do, however much
// others ask, so that nobody counts the records of the ledger by them.
func TestReceiptsCountNobodyElse(t *testing.T) {
	w := newWorld(t)
	handlerOf[*receiptHandler](w.api).maxRead = 4
	w.ask("ana", 0, 3)
	pages := func() (out []string) {
		for _, query := range []string{"", "?newest=true", "?limit=2", "?newest=true&limit=2", "?after=1", "?newest=true&before=2",
			"?query=00"} {
			out = append(out, w.want(w.call("GET", "/v1/receipts"+query, "ana", ""), 200).body)
		}
		return out
	}
	before := pages()
	if !strings.Contains(before[2], `"next":`) || strings.Contains(before[0]+before[1], `"next":`) {
		t.Error(before)
	}
	w.ask("ben", 10, 20)
	for i, page := range pages() {
		if page != before[i] {
			t.Errorf("page %d was %s, and is %s after another has asked", i, before[i], page)
		}
	}
	if all := w.want(w.call("GET", "/v1/receipts", "olga", ""), 200); all.get("next") == nil {
		t.Error(all.body)
	}
}

// TestRechecks: the ledger is verified and replayed beside the server, one at a time.
func TestRechecks(t *testing.T) {
	w := newWorld(t)
	w.ownerKey()
	w.ask("ana", 0, 3)
	finish := func(kind string) reply {
		t.Helper()
		for range 500 {
			got := w.want(w.call("GET", "/v1/ledger/"+kind, "olga", ""), 200)
			if state := got.get("state"); state != "running" {
				return got
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatal("it does not end")
		return reply{}
	}
	for _, kind := range []string{"verify", "replay"} {
		if got := w.want(w.call("GET", "/v1/ledger/"+kind, "olga", ""), 200); got.get("state") != "none" || got.get("result") != nil {
			t.Error(got.body)
		}
		w.want(w.call("GET", "/v1/ledger/"+kind, "ana", ""), 403)
		w.want(w.call("POST", "/v1/ledger/"+kind, "ana", `{}`), 403)
		handlerOf[*auditHandler](w.api).running <- struct{}{} // another one runs
		if got := w.want(w.call("POST", "/v1/ledger/"+kind, "olga", `{}`), 409); got.get("kind") != "running" {
			t.Error(got.body)
		}
		<-handlerOf[*auditHandler](w.api).running
		w.want(w.call("POST", "/v1/ledger/"+kind, "olga", `{}`), 202)
		got := finish(kind)
		head := w.want(w.call("GET", "/v1/ledger/head", "olga", ""), 200)
		if got.get("state") != "done" || got.get("by") != "olga" || got.get("result", "head", "hash") != head.get("hash") ||
			number(got, "done") != number(head, "sequence") || number(got, "of") != number(head, "sequence") {
			t.Error(got.body)
		}
	}
	if got := finish("verify"); number(got, "result", "charges") != "3" || number(got, "result", "kinds", "owner") != "1" ||
		got.get("result", "fingerprint") == nil || number(got, "result", "balances", "0", "spent", "epsilon") != "1.5" {
		t.Error(got.body)
	}
	if got := finish("replay"); got.get("result", "good") != true || number(got, "result", "decisions") != "3" {
		t.Error(got.body)
	}
	w.db.Close()
	w.want(w.call("POST", "/v1/ledger/verify", "olga", `{}`), 500)
}

// A note is listed with its session and the hash of what is stored, which has its salt in it.
func TestRecordOfANote(t *testing.T) {
	r := &ledger.Record{Kind: ledger.KindNote, Sequence: 7, Time: time.Unix(0, 0), Previous: ledger.Hash("before"),
		Session: "hospital/patients", AnswerHash: ledger.Hash("salt and secret")}
	text, err := json.Marshal(recordOf(r))
	must(t, err)
	var got map[string]any
	must(t, json.Unmarshal(text, &got))
	var keys []string
	for key := range got {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if strings.Join(keys, " ") != "answer_hash hash kind previous record sequence session time" || got["session"] != "hospital/patients" ||
		got["kind"] != "note" {
		t.Errorf("%s", text)
	}
}
