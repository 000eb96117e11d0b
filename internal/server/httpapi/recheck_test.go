package httpapi

import (
	"testing"
	"time"
)

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
		w.door.audits <- struct{}{} // another one runs
		if got := w.want(w.call("POST", "/v1/ledger/"+kind, "olga", `{}`), 409); got.get("kind") != "running" {
			t.Error(got.body)
		}
		<-w.door.audits
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
