package chain

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// The layout is a promise to auditors: these bytes may never change. The hash can be
// recomputed with sha256sum.
func TestGolden(t *testing.T) {
	when := time.Date(2026, 5, 4, 3, 2, 1, 500, time.UTC)
	for _, c := range []struct {
		record     Record
		body, hash string
	}{
		{
			Record{Kind: Ledger, Time: when, Identity: "ABC"},
			"6:ledger,1:0,28:2026-05-04T03:02:01.0000005Z,1:1,3:ABC,", "f900b2a4b01276e0c64ff0bb81a8e91545612162aab8c73d47e744b42a36089c",
		},
		{
			Record{
				Kind: Charge, Sequence: 1, Time: when, Previous: "00", Request: "r", Analyst: "ana", Dataset: "hospital",
				Query: "q", Mechanisms: "laplace, x2", Cost: dp.Cost{Epsilon: dp.Unbounded, Rho: 7, Delta: 0},
				Balances: []ledger.Balance{{Account: "ü", Limit: dp.Cost{Epsilon: 1, Rho: 2, Delta: 3}, Spent: dp.Cost{Epsilon: 4, Rho: 5, Delta: 6}}},
			},
			"6:charge,1:1,28:2026-05-04T03:02:01.0000005Z,1:r,3:ana,8:hospital,0:,1:q,11:laplace, x2,20:18446744073709551615,1:7,1:0,1:1,2:ü,1:1,1:2,1:3,1:4,1:5,1:6,2:00,", "92c6d58f98b986e95abfe685336e1a5fc97c34084029bae00cdea0d231b83028",
		},
		{
			Record{Kind: Answer, Sequence: 2, Time: when, Previous: "00", Charge: 1, Key: "k", AnswerHash: "h"},
			"6:answer,1:2,28:2026-05-04T03:02:01.0000005Z,1:1,1:k,1:h,2:00,", "2cb9d31b2914a69ba38db2a96018b6ea41c0ce391eb8475cf617fe021f713cd5",
		},
	} {
		if got := c.record.Encode(); got != c.body {
			t.Errorf("got  %s\nwant %s", got, c.body)
		}
		if got := Hash(c.body); got != c.hash {
			t.Errorf("%s: got hash %s; want %s", c.record.Kind, got, c.hash)
		}
	}
}

var (
	texts   = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", ",", "1:a,", "0:,", ":"}))
	amounts = rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1<<64 - 1}))
	costs   = rapid.Custom(func(t *rapid.T) dp.Cost {
		return dp.Cost{Epsilon: dp.Amount(amounts.Draw(t, "epsilon")), Rho: dp.Amount(amounts.Draw(t, "rho")), Delta: dp.Amount(amounts.Draw(t, "delta"))}
	})
	records = rapid.Custom(func(t *rapid.T) Record {
		text := func() string { return texts.Draw(t, "text") }
		r := Record{Kind: rapid.SampledFrom([]Kind{Ledger, Charge, Answer}).Draw(t, "kind"), Sequence: amounts.Draw(t, "sequence")}
		r.Time = time.Unix(rapid.Int64Range(-1<<35, 1<<37).Draw(t, "time"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
		switch r.Kind {
		case Ledger:
			r.Identity = text()
			return r
		case Charge:
			r.Request, r.Analyst, r.Dataset, r.DataVersion, r.Query, r.Mechanisms = text(), text(), text(), text(), text(), text()
			r.Cost = costs.Draw(t, "cost")
			r.Balances = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ledger.Balance {
				return ledger.Balance{Account: texts.Draw(t, "account"), Limit: costs.Draw(t, "limit"), Spent: costs.Draw(t, "spent")}
			}), 0, 4).Draw(t, "balances")
		case Answer:
			r.Charge, r.Key, r.AnswerHash = amounts.Draw(t, "charge"), text(), text()
		}
		r.Previous = text()
		return r
	})
)

// What is written is read again, whatever the texts contain. So no two records
// have the same encoding.
func TestDecodeIsTheInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := records.Draw(t, "record")
		var got Record
		if err := got.Decode(want.Encode()); err != nil {
			t.Fatalf("%v: %s", err, want.Encode())
		}
		got.scratch = nil
		if len(got.Balances) == 0 {
			got.Balances = want.Balances
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v; want %+v", got, want)
		}
	})
}

// What is read would be written the same way: there is one encoding only.
func FuzzDecode(f *testing.F) {
	for i := range 20 {
		r := records.Example(i)
		f.Add(r.Encode())
		f.Add(strings.Replace(r.Encode(), ":", ":0", 1))
	}
	f.Add("6:ledger,1:0,20:2026-01-01T00:00:00Z,1:1,03:ABC,")
	f.Add("6:ledger,2:00,20:2026-01-01T00:00:00Z,1:1,3:ABC,")
	f.Add("6:ledger,1:0,25:2026-01-01T00:00:00+00:00,1:1,3:ABC,")
	f.Add("6:ledger,1:0,22:2026-01-01T00:00:00.0Z,1:1,3:ABC,")
	f.Add("999999999:")
	f.Fuzz(func(t *testing.T, body string) {
		var r Record
		if r.Decode(body) == nil && r.Encode() != body {
			t.Errorf("%q is also written %q", body, r.Encode())
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	for _, body := range []string{
		"", "6:ledger,", "5:other,1:0,20:2026-01-01T00:00:00Z,1:1,3:ABC,",
		"6:ledger,1:0,20:2026-01-01T00:00:00Z,1:2,3:ABC,",                     // another format
		"6:ledger,1:0,20:2026-01-01T00:00:00Z,1:1,3:ABC,,",                    // something after the end
		"6:ledger,1:0,20:2026-01-01T00:00:00Z,1:1,4:ABC,",                     // a length that is too large
		"6:ledger,1:0,20:2026-01-01T00:00:00Z,1:1,03:ABC,",                    // a leading zero
		"6:ledger,2:+0,20:2026-01-01T00:00:00Z,1:1,3:ABC,",                    // a sign
		"6:ledger,20:18446744073709551616,20:2026-01-01T00:00:00Z,1:1,3:ABC,", // 2^64
		"6:answer,1:1,20:2026-01-01T00:00:00Z,1:1,1:k,1:h,",                   // no previous hash
	} {
		var r Record
		if r.Decode(body) == nil {
			t.Errorf("%q was taken", body)
		}
	}
}
