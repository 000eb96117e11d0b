package pricing

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// privately is a hospital whose zips and wards are private.
func privately(t testing.TB, budget string) *policy.Dataset {
	t.Helper()
	d := hospital.Dataset("hospital", "data", budget)
	d = strings.Replace(d, "ward: {type: text, keys: [emergency, internal, surgery]}", "ward: {type: text, keys: private}", 1)
	return parsed(t, strings.Replace(d, "diagnosis: {type: text, keys: [", "diagnosis: {type: text, keys: private} # [", 1))
}

func query(t testing.TB, ds *policy.Dataset, sql string, groups int64) *tree.Query {
	t.Helper()
	st, err := planner.Prepare(ds, sql, planner.Options{MaxGroups: groups})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return &st.Plans[0].Query
}

// Which questions release keys and counts as one number, and into how many parts their price goes.
func TestDecider(t *testing.T) {
	ds := privately(t, rich)
	for _, c := range []struct {
		sql     string
		decides string // the measure, or nothing
		shares  int
	}{
		// One row a person: rows are people.
		{"SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis", "count(*)", 1},
		{"SELECT diagnosis, COUNT(*) FROM patients WHERE age > 30 GROUP BY diagnosis HAVING COUNT(*) > 5", "count(*)", 1},
		{"SELECT diagnosis, COUNT(*), SUM(age) FROM patients GROUP BY diagnosis", "count(*)", 2},
		{"SELECT diagnosis, COUNT(*), MEDIAN(age) FROM patients GROUP BY diagnosis", "count(*)", 2},
		{"SELECT diagnosis, COUNT(DISTINCT pid) FROM patients GROUP BY diagnosis", "count(distinct person)", 1},
		{"SELECT diagnosis, COUNT(*), COUNT(DISTINCT pid) FROM patients GROUP BY diagnosis", "count(distinct person)", 2},
		{"SELECT sex, diagnosis, COUNT(*) FROM patients WHERE sex = 'F' GROUP BY sex, diagnosis", "count(*)", 1},
		// Several rows a person: people decide, and rows do not.
		{"SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward", "count(distinct person)", 1},
		{"SELECT ward, COUNT(*) FROM visits GROUP BY ward", "", 2},
		{"SELECT ward, COUNT(*), COUNT(DISTINCT pid) FROM visits GROUP BY ward", "count(distinct person)", 2},
		// What can be 0 where somebody is does not.
		{"SELECT diagnosis, COUNT(*) FILTER (WHERE age > 30) FROM patients GROUP BY diagnosis", "", 2},
		{"SELECT ward, COUNT(DISTINCT pid) FILTER (WHERE cost > 30) FROM visits GROUP BY ward", "", 2},
		{"SELECT ward, COUNT(DISTINCT cost) FROM visits GROUP BY ward", "", 2},
		{"SELECT diagnosis, SUM(age) FROM patients GROUP BY diagnosis", "", 2},
		// Nor do several numbers for each combination, or none.
		{"SELECT sex, diagnosis, COUNT(*) FROM patients GROUP BY sex, diagnosis", "", 2},
		{"SELECT DISTINCT diagnosis FROM patients", "", 1},
		{"SELECT sex, COUNT(*) FROM patients GROUP BY sex", "", 1},
	} {
		q := query(t, ds, c.sql, 0)
		got := ""
		if i := q.Decider(); i >= 0 {
			got = q.Measures[i].Describe()
		}
		if shares := (&Purchase{Query: q}).shares(); got != c.decides || shares != c.shares {
			t.Errorf("%s: %q decides, of %d shares; want %q, of %d", c.sql, got, shares, c.decides, c.shares)
		}
	}
}

// Keys and their count cost one release, to the last unit, and no more noise is added than one
// release of the count alone would have.
func TestKeysAndCountAreOneRelease(t *testing.T) {
	ds := privately(t, rich)
	for _, mechanism := range []string{"", "laplace", "gaussian"} {
		for _, sql := range []string{"SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis",
			"SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward"} {
			st, err := planner.Prepare(ds, sql, planner.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := Price(ds, st, api.Settings{Epsilon: dp.One, Mechanism: mechanism}, Currency{})
			if err != nil {
				t.Fatal(err)
			}
			b := p.Purchases[0]
			want := rhoFor(dp.One)
			if got := b.Cost(); got.Rho > want || got.Rho < want-want/1000 || got.Delta == 0 || got.Delta > ds.Budget.DefaultDelta {
				t.Errorf("%s: it costs %v, of rho %v and delta %v", sql, got, want, ds.Budget.DefaultDelta)
			}
			if b.Cost() != b.Keys.Threshold.Cost() || !b.Noise[0].Decides {
				t.Errorf("%s: %v is not the price of the keys", sql, b.Cost())
			}
			alone, err := newNoise(b.Query, b.Query.Measures[0], p.Currency, want, mechanism)
			if err != nil {
				t.Fatal(err)
			}
			if b.Noise[0].Name() != alone.Name() || b.Noise[0].HalfWidth(0.05) > alone.HalfWidth(0.05) {
				t.Errorf("%s: %s noise within %d, and alone %s within %d", sql, b.Noise[0].Name(), b.Noise[0].HalfWidth(0.05),
					alone.Name(), alone.HalfWidth(0.05))
			}
			if p.Split() != "one release takes the whole price" {
				t.Errorf("%s: %s", sql, p.Split())
			}
			in := p.Inquiry(b)
			if sum := in.Measures[0].Cost.Add(in.Measures[1].Cost); sum != b.Cost() ||
				!strings.Contains(in.Measures[0].Why, "decides which keys are shown") {
				t.Errorf("%s: explained as %+v", sql, in.Measures)
			}
		}
	}
}

// The same keys in either currency: an epsilon with Laplace noise, where a person has one key, and
// a rho with Gaussian noise. Each costs what it was given, in its own currency.
func TestKeysInBothCurrencies(t *testing.T) {
	ds := privately(t, rich)
	delta, err := dp.Parse("1e-6")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sql    string
		groups int64
		pure   string
		from   int64
	}{
		{"SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis", 0, "laplace", 15},
		{"SELECT ward, COUNT(DISTINCT pid) FROM visits GROUP BY ward", 1, "laplace", 15},
		{"SELECT ward, COUNT(*) FROM visits GROUP BY ward", 1, "laplace", 15},
	} {
		q := query(t, ds, c.sql, c.groups)
		k, err := newKeys(q, Currency{Pure: true}, dp.One, delta, "")
		if err != nil {
			t.Fatal(err)
		}
		if k.Threshold.Noise().Name() != c.pure || k.Threshold.Threshold() != c.from || k.cost().Epsilon != dp.One ||
			k.cost().Delta > delta {
			t.Errorf("%s: %s, costs %v", c.sql, k.spelling(), k.cost())
		}
		share := rhoFor(dp.One)
		if k, err = newKeys(q, Currency{}, share, delta, ""); err != nil {
			t.Fatal(err)
		}
		if k.Threshold.Noise().Name() != "gaussian" || k.cost().Rho > share || k.cost().Delta > delta {
			t.Errorf("%s: %s, costs %v", c.sql, k.spelling(), k.cost())
		}
	}
	// Keys alone, in epsilon: the selection that is best for one key a person.
	q := query(t, ds, "SELECT DISTINCT diagnosis FROM patients", 0)
	k, err := newKeys(q, Currency{Pure: true}, dp.One, delta, "")
	if err != nil || k.Selection == nil || k.cost().Epsilon != dp.One {
		t.Errorf("%+v, %v", k, err)
	}
}

// A planted plan: a count to which one person adds more than 1 cannot decide.
func TestDeciderThatMovesFurther(t *testing.T) {
	ds := privately(t, rich)
	q := query(t, ds, "SELECT ward, COUNT(*) FROM visits GROUP BY ward", 1)
	if q.MaxRows() < 2 || q.Decider() >= 0 {
		t.Fatalf("%d rows, %d decides", q.MaxRows(), q.Decider())
	}
	if lo, hi := q.Interval(q.Measures[0]); lo.Sign() != 0 || hi.Cmp(big.NewInt(q.MaxRows())) != 0 {
		t.Errorf("from %v to %v", lo, hi)
	}
	one := *q
	one.RowLimit = 1
	if fmt.Sprint(one.Decider(), one.Sensitivity(one.Measures[0], dp.L1)) != fmt.Sprint(0, dp.NewL1(big.NewInt(1))) {
		t.Errorf("with one row, %d decides", one.Decider())
	}
}
