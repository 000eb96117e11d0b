package budgets

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

// Tables of a hospital, as a policy describes them.
const (
	patients = "patients: {source: patients.csv, unique: pid, columns: {age: {type: integer, bounds: [0, 120]}}}"
	visits   = "visits: {source: visits.csv, path: pid -> patients.pid, max_rows: 3, max_groups: 1, columns: {" +
		"cost: {type: integer, bounds: [0, 9]}}}"
	byDoctor = "visits: {source: visits.csv, path: doctor -> patients.pid, max_rows: 3, max_groups: 1, columns: {" +
		"cost: {type: integer, bounds: [0, 9]}}}"
	published = "visits: {source: visits.csv, public: true, columns: {cost: {type: integer, bounds: [0, 9]}}}"
	codes     = "codes: {source: codes.csv, public: true, columns: {code: {type: integer, bounds: [0, 9]}}}"
	secret    = "codes: {source: codes.csv, path: pid -> patients.pid, unique: pid, columns: {code: {type: integer, bounds: [0, 9]}}}"
	once      = "{epsilon: 1, renewal: {every: month, windows: 3}}"
)

// TestPolicyProtectsOthers: after a charge a policy that says otherwise whom it protects promises
// nothing, and nothing can be charged, topped up or renewed. What leaves a promise true may change.
func TestPolicyProtectsOthers(t *testing.T) {
	by := func(lines ...string) []string { return lines }
	unit, substitute := "unit: patients.pid", "unit: patients.pid\n    neighbours: substitute"
	for _, c := range []struct {
		name, before, after string
		was, is             []string
		want                string // nothing where it may be changed
	}{
		{"the same", unit, unit, by(patients, visits), by(patients, visits), ""},
		{"neighbours", unit, substitute, by(patients), by(patients), `says neighbours: substitute, and said neighbours: add-remove when`},
		{"neighbours back", substitute, unit, by(patients), by(patients), `says neighbours: add-remove, and`},
		{"unit", unit, "unit: row", by(patients), by("patients: {source: patients.csv, columns: {age: {type: integer, bounds: [0, 120]}}}"),
			`says unit: row, and said unit: patients.pid when`},
		{"whose rows", unit, unit, by(patients, visits), by(patients, byDoctor), `says path: doctor -> patients.pid of the table visits, and`},
		{"a table is published", unit, unit, by(patients, visits), by(patients, published), `says that the table visits is public, and`},
		{"a public table is private", unit, unit, by(patients, codes), by(patients, secret), `and said that the table codes is public when`},
		{"a table comes", unit, unit, by(patients), by(patients, visits), ""},
		{"a table goes", unit, unit, by(patients, visits), by(patients), ""},
		{"the number of people", substitute, substitute, by(strings.Replace(patients, ".csv", ".parquet", 1)),
			by(strings.Replace(patients, ".csv", ".parquet", 1), visits),
			`says that no table tells how many people there are, and said that the table patients tells`},
		{"bounds", unit, unit, by(visits, patients), by(strings.Replace(visits, "9", "99", 1), patients), ""},
		{"rows", unit, unit, by(visits, patients), by(strings.Replace(visits, "max_rows: 3", "max_rows: 5", 1), patients), ""},
		{"the source", unit, unit, by(patients), by(strings.Replace(patients, "patients.csv", "moved.parquet", 1)), ""},
	} {
		s := newShelf(t, once)
		key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
		if _, err := s.ledger.Enter(ctx, ledger.Owner{Public: key.Public().(ed25519.PublicKey), Reason: "test"}); err != nil {
			t.Fatal(err)
		}
		s.protect(once, c.after, c.is...)
		s.promise(4, "(epsilon 1)") // nothing was charged yet, so everything may change
		s.protect(once, c.before, c.was...)
		s.charge("one", laplace("0.5"))
		s.protect(once, c.after, c.is...)
		_, promised := s.Promise(ctx)
		_, read := s.Accounts(ctx, "ana")
		_, charged := s.Protected(ctx)
		_, raised := s.TopUp(ctx, api.TopUp{Account: "ana", Epsilon: parse("0.1"), Reason: "test", Signer: key})
		_, renewed := s.Renew(ctx, "test")
		for what, err := range map[string]error{"promise": promised, "accounts": read, "charge": charged, "top-up": raised,
			"renewal": renewed} {
			var changed *ChangedError
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &changed) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: the %s: %v", c.name, what, err)
			}
		}
		if c.want == "" {
			s.charge("two", laplace("0.1"))
			s.protect(once, c.before, c.was...)
			s.promise(4)
			continue
		}
		s.protect(once, c.before, c.was...)
		s.promise(4, "(epsilon 1)") // put back
	}
}

// TestPolicyProtectsOthersLater: what came later is recorded too; so is what an older version of
// this program did not record, with the next charge; and a recovery forgets nothing of it.
func TestPolicyProtectsOthersLater(t *testing.T) {
	s := newShelf(t, once)
	refuse := func(when, unit string, tables ...string) {
		t.Helper()
		s.protect(once, unit, tables...)
		if _, err := s.Promise(ctx); !errors.As(err, new(*ChangedError)) {
			t.Errorf("%s: %v", when, err)
		}
	}
	s.protect(once, "unit: patients.pid", patients)
	s.chargeWith("old", laplace("0.1"), nil)
	s.protect(once, "unit: patients.pid\n    neighbours: substitute", patients)
	s.promise(4) // nobody knows
	s.protect(once, "unit: patients.pid", patients)
	s.charge("one", laplace("0.1"))
	refuse("at the next charge", "unit: patients.pid\n    neighbours: substitute", patients)
	s.protect(once, "unit: patients.pid", patients, visits)
	s.charge("two", laplace("0.1"))
	refuse("a table that came later", "unit: patients.pid", patients, byDoctor)
	s.protect(once, "unit: patients.pid", patients)
	s.charge("three", laplace("0.1"))
	refuse("a table that was gone", "unit: patients.pid", patients, byDoctor)
	if _, err := s.ledger.Enter(ctx, ledger.Recovery{Reason: "the disk"}); err != nil {
		t.Fatal(err)
	}
	refuse("after a recovery", "unit: patients.pid", patients, byDoctor)
	s.protect(once, "unit: patients.pid", patients, visits, codes)
	s.charge("four", laplace("0.1"))
	refuse("what came after a recovery", "unit: patients.pid", patients, secret)
}

// TestPolicyProtectsOthersAtOnce: of two servers with policies of their own one is first, and the
// other pays for nothing.
func TestPolicyProtectsOthersAtOnce(t *testing.T) {
	s := newShelf(t, once)
	s.protect(once, "unit: patients.pid", patients)
	own, err := s.Protected(ctx)
	if err != nil || len(own) != 1 {
		t.Fatal(own, err)
	}
	other := *s
	other.protect(once, "unit: patients.pid\n    neighbours: substitute", patients)
	other.charge("first", laplace("0.1"))
	_, err = s.ledger.Charge(ctx, ledger.Charge{Request: "second", Analyst: "ana", Dataset: "hospital", Query: ledger.Hash("q"), Window: 1,
		Cost: laplace("0.1"), Accounts: s.Charged("ana", 1), Firsts: own})
	if !errors.Is(err, ledger.ErrBehind) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Protected(ctx); !errors.As(err, new(*ChangedError)) {
		t.Errorf("got %v", err)
	}
}
