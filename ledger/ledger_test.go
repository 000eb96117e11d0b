package ledger_test

import (
	"encoding/json"
	"reflect"
	"slices"
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
		record     ledger.Record
		body, hash string
	}{
		{
			ledger.Record{Kind: ledger.KindLedger, Time: when, Identity: "ABC"},
			"6:ledger,1:0,28:2026-05-04T03:02:01.0000005Z,1:2,3:ABC,", "2aa05fed9dbd3604cdacead243e480a590ca5ef6f712804ae8eaaed868f21c4d",
		},
		{
			ledger.Record{
				Kind: ledger.KindCharge, Sequence: 1, Time: when, Previous: "00", Request: "r", Analyst: "ana", Dataset: "hospital",
				Query: "q", Mechanisms: "laplace, x2", Window: 9, Cost: dp.Cost{Epsilon: dp.Unbounded, Rho: 7, Delta: 0},
				Balances: []ledger.Balance{{Account: "ü", Limit: dp.Cost{Epsilon: 1, Rho: 2, Delta: 3},
					Granted: dp.Cost{Epsilon: 7, Rho: 8, Delta: 9}, Spent: dp.Cost{Epsilon: 4, Rho: 5, Delta: 6}}},
			},
			"6:charge,1:1,28:2026-05-04T03:02:01.0000005Z,1:r,3:ana,8:hospital,0:,1:q,11:laplace, " +
				"x2,1:9,20:18446744073709551615,1:7,1:0,1:1,2:ü,1:1,1:2,1:3,1:7,1:8,1:9,1:4,1:5,1:6,2:00,",
			"6e6a8a5bfb814783a58d0b87c101cb0ffc0fc120890d3950657418d6ab9f3fce",
		},
		{
			ledger.Record{Kind: ledger.KindAnswer, Sequence: 2, Time: when, Previous: "00", Charge: 1, Key: "k", AnswerHash: "h"},
			"6:answer,1:2,28:2026-05-04T03:02:01.0000005Z,1:1,1:k,1:h,2:00,",
			"2cb9d31b2914a69ba38db2a96018b6ea41c0ce391eb8475cf617fe021f713cd5",
		},
		{
			ledger.Record{Kind: ledger.KindVersion, Sequence: 3, Time: when, Previous: "00", Dataset: "d", DataVersion: "v"},
			"7:version,1:3,28:2026-05-04T03:02:01.0000005Z,1:d,1:v,2:00,",
			"0a8391ec4a65b038dae79a4b84906456a304766a31223f6ab03fb28f8ef22bf3",
		},
		{
			ledger.Record{Kind: ledger.KindRenewal, Sequence: 4, Time: when, Previous: "00", Dataset: "d", Window: 2, Reason: "why"},
			"7:renewal,1:4,28:2026-05-04T03:02:01.0000005Z,1:d,1:2,3:why,2:00,",
			"bbfb81010a5e82b1224692d5ca67efb3ea25f4bb7df6e64a373a6e3d848aa73c",
		},
		{
			ledger.Record{Kind: ledger.KindOwner, Sequence: 5, Time: when, Previous: "00", PublicKey: "k", Reason: "why", Signature: "s"},
			"5:owner,1:5,28:2026-05-04T03:02:01.0000005Z,1:k,3:why,2:00,1:s,",
			"0cdd3339a64ac5898b124942fb642d92206a6e34b99cf29a7731d3f86eb05743",
		},
		{
			ledger.Record{Kind: ledger.KindTopUp, Sequence: 6, Time: when, Previous: "00", Accounts: []string{"a", "b"},
				Cost: dp.Cost{Epsilon: 1, Rho: 2, Delta: 3}, Reason: "why", PublicKey: "k", Signature: "s"},
			"5:topup,1:6,28:2026-05-04T03:02:01.0000005Z,1:2,1:a,1:b,1:1,1:2,1:3,3:why,1:k,2:00,1:s,",
			"759fed90b6a3749233ef39b5283494d7c50ca71d0aec52884d9c0c8ee178e73a",
		},
		{
			ledger.Record{Kind: ledger.KindRecovery, Sequence: 7, Time: when, Previous: "00",
				AnchorSequence: 9, AnchorHash: "h", Reason: "why",
				PublicKey: "k", Balances: []ledger.Balance{{Account: "a", Spent: dp.Cost{Epsilon: 4, Rho: 5, Delta: 6}}}},
			"8:recovery,1:7,28:2026-05-04T03:02:01.0000005Z,1:9,1:h,3:why,1:k,1:1,1:a,1:0,1:0,1:0,1:0,1:0,1:0,1:4,1:5,1:6,2:00,",
			"aadadb71fd93cf9fde784f389c18c2005c4667be17432ac60f414fb9b8f7d54a",
		},
		{
			ledger.Record{Kind: ledger.KindNote, Sequence: 8, Time: when, Previous: "00", Session: "d/s", AnswerHash: "h"},
			"4:note,1:8,28:2026-05-04T03:02:01.0000005Z,3:d/s,1:h,2:00,",
			"6cfa30886244e3bac71fde72d202f0e43768849a4e0b0d3f9e4b15cc85097492",
		},
		{
			ledger.Record{Kind: ledger.KindIncident, Sequence: 9, Time: when, Previous: "00", Charge: 3, Analyst: "ana", Dataset: "d",
				Failure: ledger.FailedMemory, ByAnalyst: 1, ByDataset: 3},
			"8:incident,1:9,28:2026-05-04T03:02:01.0000005Z,1:3,3:ana,1:d,6:memory,1:1,1:3,2:00,",
			"f4ab9ae7c4d0e5fe93f22e839d882312c299362a5ccd12f62b7c54902d384473",
		},
		{
			ledger.Record{Kind: ledger.KindRelease, Sequence: 10, Time: when, Previous: "00", Dataset: "d", Analyst: "ana", Reason: "why",
				PublicKey: "k", Signature: "s"},
			"7:release,2:10,28:2026-05-04T03:02:01.0000005Z,1:d,3:ana,3:why,1:k,2:00,1:s,",
			"4686e18fbb99ad26ecf7561291bd1a1e3dd8b848ab877683084dd8dc40df2b28",
		},
	} {
		if got := c.record.Encode(); got != c.body {
			t.Errorf("got  %s\nwant %s", got, c.body)
		}
		if got := ledger.Hash(c.body); got != c.hash {
			t.Errorf("%s: got hash %s; want %s", c.record.Kind, got, c.hash)
		}
	}
}

var (
	texts   = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", ",", "1:a,", "0:,", ":"}))
	amounts = rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1<<64 - 1}))
	costs   = rapid.Custom(func(t *rapid.T) dp.Cost {
		return dp.Cost{Epsilon: dp.Amount(amounts.Draw(t, "epsilon")), Rho: dp.Amount(amounts.Draw(t, "rho")),
			Delta: dp.Amount(amounts.Draw(t, "delta"))}
	})
	balances = rapid.Custom(func(t *rapid.T) ledger.Balance {
		return ledger.Balance{Account: texts.Draw(t, "account"), Limit: costs.Draw(t, "limit"), Granted: costs.Draw(t, "granted"),
			Spent: costs.Draw(t, "spent")}
	})
	kinds = []ledger.Kind{
		ledger.KindLedger, ledger.KindCharge, ledger.KindAnswer, ledger.KindVersion, ledger.KindRenewal, ledger.KindOwner,
		ledger.KindTopUp, ledger.KindRecovery, ledger.KindNote, ledger.KindIncident, ledger.KindRelease,
	}
	records = rapid.Custom(func(t *rapid.T) ledger.Record {
		text := func() string { return texts.Draw(t, "text") }
		r := ledger.Record{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Sequence: amounts.Draw(t, "sequence")}
		r.Time = time.Unix(rapid.Int64Range(-1<<35, 1<<37).Draw(t, "time"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
		switch r.Kind {
		case ledger.KindLedger:
			r.Identity = text()
			return r
		case ledger.KindCharge:
			r.Request, r.Analyst, r.Dataset, r.DataVersion, r.Query, r.Mechanisms = text(), text(), text(), text(), text(), text()
			r.Cost = costs.Draw(t, "cost")
			r.Window = amounts.Draw(t, "window")
			r.Balances = rapid.SliceOfN(balances, 0, 4).Draw(t, "balances")
		case ledger.KindAnswer:
			r.Charge, r.Key, r.AnswerHash = amounts.Draw(t, "charge"), text(), text()
		case ledger.KindNote:
			r.Session, r.AnswerHash = text(), text()
		case ledger.KindIncident:
			r.Charge, r.Analyst, r.Dataset, r.Failure = amounts.Draw(t, "charge"), text(), text(), ledger.Failure(text())
			r.ByAnalyst, r.ByDataset = amounts.Draw(t, "by analyst"), amounts.Draw(t, "by dataset")
		}
		drawEntry(t, &r, text)
		r.Previous = text()
		return r
	})
)

// What is written is read again, whatever the texts contain. So no two records
// have the same encoding.
func TestDecodeIsTheInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := records.Draw(t, "record")
		var got ledger.Record
		if err := got.Decode(want.Encode()); err != nil {
			t.Fatalf("%v: %s", err, want.Encode())
		}
		got = *got.Clone() // without what reading keeps for the next record
		if len(got.Accounts) == 0 {
			got.Accounts = want.Accounts
		}
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
	f.Add("6:ledger,1:0,20:2026-01-01T00:00:00Z,1:2,03:ABC,")
	f.Add("6:ledger,2:00,20:2026-01-01T00:00:00Z,1:2,3:ABC,")
	f.Add("6:ledger,1:0,25:2026-01-01T00:00:00+00:00,1:2,3:ABC,")
	f.Add("6:ledger,1:0,22:2026-01-01T00:00:00.0Z,1:2,3:ABC,")
	f.Add("999999999:")
	f.Fuzz(func(t *testing.T, body string) {
		var r ledger.Record
		if r.Decode(body) == nil && r.Encode() != body {
			t.Errorf("%q is also written %q", body, r.Encode())
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	for _, body := range []string{
		"", "6:ledger,", "5:other,1:0,20:2026-01-01T00:00:00Z,1:2,3:ABC,",
		"6:ledger,1:0,20:2026-01-01T00:00:00Z,1:1,3:ABC,",                     // another format
		"6:ledger,1:0,20:2026-01-01T00:00:00Z,1:2,3:ABC,,",                    // something after the end
		"6:ledger,1:0,20:2026-01-01T00:00:00Z,1:2,4:ABC,",                     // a length that is too large
		"6:ledger,1:0,20:2026-01-01T00:00:00Z,1:2,03:ABC,",                    // a leading zero
		"6:ledger,2:+0,20:2026-01-01T00:00:00Z,1:2,3:ABC,",                    // a sign
		"6:ledger,20:18446744073709551616,20:2026-01-01T00:00:00Z,1:2,3:ABC,", // 2^64
		"6:answer,1:1,20:2026-01-01T00:00:00Z,1:1,1:k,1:h,",                   // no previous hash
	} {
		var r ledger.Record
		if r.Decode(body) == nil {
			t.Errorf("%q was taken", body)
		}
	}
}

// drawEntry fills what the kinds of entries have.
func drawEntry(t *rapid.T, r *ledger.Record, text func() string) {
	switch r.Kind {
	case ledger.KindVersion:
		r.Dataset, r.DataVersion = text(), text()
	case ledger.KindRenewal:
		r.Dataset, r.Window, r.Reason = text(), amounts.Draw(t, "window"), text()
	case ledger.KindOwner:
		r.PublicKey, r.Reason, r.Signature = text(), text(), text()
	case ledger.KindTopUp:
		r.Accounts = rapid.SliceOfN(texts, 0, 4).Draw(t, "accounts")
		r.Cost, r.Reason, r.PublicKey, r.Signature = costs.Draw(t, "amount"), text(), text(), text()
	case ledger.KindRelease:
		r.Dataset, r.Analyst, r.Reason, r.PublicKey, r.Signature = text(), text(), text(), text(), text()
	case ledger.KindRecovery:
		r.AnchorSequence, r.AnchorHash, r.Reason, r.PublicKey = amounts.Draw(t, "anchor"), text(), text(), text()
		r.Balances = rapid.SliceOfN(balances, 0, 4).Draw(t, "balances")
	}
}

// charged is the receipt of a charge of rho in one account.
func charged(spent, cost, limit dp.Amount) ledger.Receipt {
	return ledger.Receipt{
		Cost: dp.Cost{Epsilon: dp.Unbounded, Rho: cost, Delta: 0},
		Balances: []ledger.Balance{{
			Account: "a", Limit: dp.Cost{Epsilon: dp.Unbounded, Rho: limit, Delta: 0},
			Spent: dp.Cost{Epsilon: dp.Unbounded, Rho: spent, Delta: 0},
		}},
	}
}

// A hundred charges of one hundredth give each alert once, at the charge that reaches it.
func TestAlerts(t *testing.T) {
	var got []int
	at := map[int]dp.Amount{}
	for spent := dp.Amount(1); spent <= 100; spent++ {
		for _, a := range charged(spent, 1, 100).Alerts() {
			got = append(got, a.Percent)
			at[a.Percent] = spent
		}
	}
	if !slices.Equal(got, ledger.Thresholds) || at[50] != 50 || at[80] != 80 || at[95] != 95 {
		t.Errorf("got %v at %v", got, at)
	}
	if all := charged(100, 100, 100).Alerts(); len(all) != 1 || all[0].Percent != 95 {
		t.Errorf("a charge of everything gives %v; want the highest alone", all)
	}
	again := charged(50, 1, 100)
	again.Again = true
	if len(again.Alerts()) != 0 {
		t.Error("a request that was charged before gives an alert again")
	}
}

func TestPart(t *testing.T) {
	for _, c := range []struct {
		spent, limit dp.Cost
		want         float64
	}{
		{dp.Cost{Epsilon: 1}, dp.Cost{Epsilon: 4, Rho: dp.Unbounded, Delta: 0}, 0.25},
		{dp.Cost{Epsilon: dp.Unbounded, Rho: 1, Delta: 3}, dp.Cost{Epsilon: dp.Unbounded, Rho: 4, Delta: 4}, 0.75},
		{dp.Cost{}, dp.Cost{Epsilon: 0, Rho: dp.Unbounded, Delta: 0}, 0},
		{dp.Cost{Epsilon: 5}, dp.Cost{Epsilon: 4, Rho: dp.Unbounded}, 1}, // the owner has lowered the limit
		{dp.Cost{Epsilon: dp.Unbounded}, dp.Cost{Epsilon: 4, Rho: dp.Unbounded}, 1},
		{dp.Cost{Epsilon: 2, Rho: 1}, dp.Cost{Epsilon: 4, Rho: 4}, 0.25}, // one of the two is enough
		{dp.Cost{Epsilon: dp.Unbounded, Rho: 3}, dp.Cost{Epsilon: 4, Rho: 4}, 0.75},
	} {
		if got := (ledger.Balance{Limit: c.limit, Spent: c.spent}).Part(); got != c.want {
			t.Errorf("%v of %v is %v; want %v", c.spent, c.limit, got, c.want)
		}
	}
}

// An anchor comes back from JSON to the last unit. A dp.Cost alone would not: its JSON rounds, and
// has no unbounded amounts.
func TestAnchorJSON(t *testing.T) {
	amount := rapid.Custom(func(t *rapid.T) dp.Amount {
		return rapid.OneOf(rapid.Just(dp.Unbounded), rapid.Just(dp.Unbounded-1),
			rapid.Map(rapid.Uint64(), func(n uint64) dp.Amount { return dp.Amount(n) })).Draw(t, "amount")
	})
	rapid.Check(t, func(t *rapid.T) {
		a := ledger.Anchor{Identity: rapid.String().Draw(t, "identity"), Sequence: rapid.Uint64().Draw(t, "sequence"),
			Hash: ledger.Hash("x"),
			Time: time.Unix(1, 2).UTC()}
		for range rapid.IntRange(1, 3).Draw(t, "accounts") {
			a.Most = append(a.Most, ledger.Ceiling{rapid.String().Draw(t, "account"),
				dp.Cost{Epsilon: amount.Draw(t, "epsilon"), Rho: amount.Draw(t, "rho"), Delta: amount.Draw(t, "delta")}})
			a.Trail = append(a.Trail, ledger.Position{rapid.Uint64().Draw(t, "at"), ledger.Hash("y")})
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var b ledger.Anchor
		if err := json.Unmarshal(text, &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%v: %+v came back as %+v", err, a, b)
		}
	})
}
