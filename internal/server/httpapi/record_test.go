package httpapi

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

// A note is listed with its session and the hash of what is stored, which has its salt in it.
func TestRecordOfANote(t *testing.T) {
	r := &ledger.Record{Kind: ledger.KindNote, Sequence: 7, Time: time.Unix(0, 0), Previous: ledger.Hash("before"),
		Session: "hospital/patients", AnswerHash: ledger.Hash("salt and secret")}
	text, err := json.Marshal(recordOf(r))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
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
