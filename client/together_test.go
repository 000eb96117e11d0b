package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/federate"
)

func number(t testing.TB, v any) float64 {
	t.Helper()
	n, ok := v.(json.Number)
	f, err := n.Float64()
	if !ok || err != nil {
		t.Fatalf("%v is no number", v)
	}
	return f
}

// TestAloneIsTheSame: what a server says an answer is made of makes that answer, with its error
// bars, whatever noise there is, and also where it was kept, sharpened, or is a part of another.
func TestAloneIsTheSame(t *testing.T) {
	ctx := context.Background()
	substitute := func(p string) string {
		return strings.Replace(p, "    unit: patients.pid\n", "    unit: patients.pid\n    neighbours: substitute\n", 1)
	}
	for name, s := range map[string]*site{
		"pure": open(t, "pure", pure, 300, nil), "gaussian": open(t, "gaussian", gaussian, 300, nil),
		"substitute": open(t, "substitute", pure, 300, substitute),
	} {
		for i, sql := range []string{
			"SELECT COUNT(*), SUM(age), AVG(age), SUM(cost), AVG(cost) FROM patients",
			"SELECT AVG(age) FROM patients",
			"SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex ORDER BY sex DESC",
			"SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex", // kept
			"SELECT smoker, diagnosis AS d, AVG(cost), COUNT(age) FILTER (WHERE age > 40) FROM patients GROUP BY diagnosis, smoker",
			"SELECT ward, COUNT(*), SUM(cost), AVG(cost) FROM visits GROUP BY ward",
			"SELECT COUNT(*) FROM patients WHERE sex IN ('F', 'M')", // made of others
			"SELECT COUNT(DISTINCT pid) FROM patients WHERE age > 30",
			"SELECT COUNT(*)::float8 FROM patients WHERE age > 31",
		} {
			for _, epsilon := range []string{"0.1", "0.4"} { // the second is sharpened from the first
				e, err := dp.Parse(epsilon)
				must(t, err)
				same(ctx, t, s, Question{SQL: sql, Epsilon: e}, fmt.Sprint(name, i))
			}
		}
	}
}

// same compares an answer with what its parts are, put together by themselves.
func same(ctx context.Context, t *testing.T, s *site, q Question, request string) {
	t.Helper()
	e, err := s.explain(ctx, q)
	if err != nil {
		t.Fatalf("%s: %v", q.SQL, err)
	}
	offer := federate.Offer{Server: "alone", Makeup: e.Makeup}
	if err := federate.Check([]federate.Offer{offer}); err != nil {
		t.Fatalf("%s: %v", q.SQL, err)
	}
	a, err := s.ask(ctx, q, request+q.Epsilon.String())
	if err != nil {
		t.Fatalf("%s: %v", q.SQL, err)
	}
	j, err := federate.Join(t.Context(), []federate.Given{{Offer: offer, Answer: a}}, federate.Settings{Confidence: a.Confidence})
	if err != nil {
		t.Fatalf("%s: %v", q.SQL, err)
	}
	for i, row := range a.Rows {
		for k, v := range row {
			got := j.Rows[i][k]
			if e.Makeup.Columns[k].Of == api.OfKey {
				if got != v || j.Errors[i][k] != nil {
					t.Errorf("%s: the key %v is %v", q.SQL, v, got)
				}
				continue
			}
			if x, y := number(t, v), number(t, got); math.Abs(x-y) > 1e-9*math.Abs(x) {
				t.Errorf("%s: %v is put together as %v", q.SQL, v, got)
			}
			// What was sharpened is a step wider (mech.HalfWidthOfSum), which in an average over
			// few people is more.
			mine, theirs, most := *j.Errors[i][k], *a.Errors[i][k], 1e-9
			switch part := a.Parts[i][k]; {
			case part.Sum.Off > 0 && e.Makeup.Columns[k].Of == api.OfAverage:
				most = math.Inf(1)
			case part.Sum.Off > 0:
				most = 2
			}
			if mine < theirs*(1-1e-9) || mine > theirs*(1+1e-9)+most {
				t.Errorf("%s: the error of %v is %v, and put together %v", q.SQL, v, theirs, mine)
			}
		}
	}
}

// truth is the number of people, their ages and their costs, of some servers.
func truth(sites ...*site) (people, ages, costs float64) {
	for _, s := range sites {
		for _, p := range s.hospital.Patients {
			people, ages, costs = people+1, ages+float64(p.Age), costs+float64(p.Cents)/100
		}
	}
	return people, ages, costs
}

func TestTogether(t *testing.T) {
	north, south := open(t, "north", pure, 400, nil), open(t, "southern", gaussian, 700, nil)
	west := open(t, "w", pure, 300, func(p string) string { // other bounds, and one key less
		return strings.Replace(strings.Replace(p, "bounds: [0, 110]", "bounds: [0, 120]", 1), "keys: [F, M, X]", "keys: [M, F]", 1)
	})
	all, ctx := Together(north.Server, south.Server, west.Server), context.Background()
	q := Question{SQL: "SELECT COUNT(*), SUM(cost) AS c, AVG(age) FROM patients"}
	quote, err := all.Price(ctx, q)
	if err != nil || len(quote.Servers) != 3 || quote.Errors[0] == nil || quote.Errors[2] != nil {
		t.Fatalf("%+v, %v", quote, err)
	}
	a, err := all.Ask(ctx, q)
	must(t, err)
	people, ages, costs := truth(north, south, west)
	for j, want := range []float64{people, costs, ages / people} {
		// Eight times a half width of 95 % is a chance that nobody sees.
		if got, half := number(t, a.Rows[0][j]), *a.Errors[0][j]; math.Abs(got-want) > 8*half {
			t.Errorf("%s is %v ±%v, and the truth %v", a.Columns[j].Name, got, half, want)
		}
	}
	if *a.Errors[0][0] != *quote.Errors[0] || *a.Errors[0][1] != *quote.Errors[1] {
		t.Errorf("the price promised %v and %v: %v", *quote.Errors[0], *quote.Errors[1], a.Errors[0])
	}
	for i, s := range a.Servers {
		if r := s.Answer.Receipt; r.Hash == "" || r.Free || s.Answer.Cost != quote.Servers[i].Price.Pay {
			t.Errorf("%s: %+v, %v and %v", s.Server, r, s.Answer.Cost, quote.Servers[i].Price.Pay)
		}
	}
	again, err := all.Ask(ctx, q)
	if err != nil || fmt.Sprint(again.Rows) != fmt.Sprint(a.Rows) || !again.Servers[1].Answer.Receipt.Free || again.Request == a.Request {
		t.Errorf("asked again it is %v, %v", again, err)
	}
	if text := strings.Join(a.Notes, ""); !strings.Contains(text, "counts twice") {
		t.Errorf("the notes are %s", text)
	}

	keys, err := all.Ask(ctx, Question{SQL: "SELECT sex, COUNT(*) FROM patients GROUP BY sex", Parameters: nil,
		Settings: map[string]string{"dp.errors": "columns", "dp.confidence": "0.9", "dp.counts": "nonnegative"}})
	if err != nil || fmt.Sprint(keys.Of) != "[3 3 2]" || keys.Confidence != 0.9 || len(keys.Rows[0]) != 3 ||
		keys.Columns[2].Name != "count_error" {
		t.Errorf("%+v, %v", keys, err)
	}
	if cast, err := all.Ask(ctx, Question{SQL: "SELECT age::float8 / 4 AS x, COUNT(*) FROM patients GROUP BY x"}); err != nil ||
		len(cast.Rows) != 121 || fmt.Sprint(cast.Rows[3][0]) != "0.75" || cast.Of[110] != 3 || cast.Of[111] != 1 {
		t.Errorf("%+v, %v", cast, err)
	}
	bound, err := all.Ask(ctx, Question{SQL: "SELECT COUNT(*) FROM patients WHERE age > $1 AND sex = ANY ($2)",
		Parameters: []any{30, []string{"F", "X"}}})
	if err != nil || len(bound.Rows) != 1 {
		t.Errorf("%+v, %v", bound, err)
	}
}

// TestRefusedBefore: what cannot be put together is refused, and costs nothing anywhere.
func TestRefusedBefore(t *testing.T) {
	north, south := open(t, "north", pure, 50, nil), open(t, "southern", gaussian, 50, func(p string) string {
		return strings.Replace(p, "{type: text, keys: [1001A, 1002B, 1003A, 1004C, 1005D]}", "{type: text, keys: private}", 1)
	})
	both, ctx := Together(north.Server, south.Server), context.Background()
	before := north.left(t) + south.left(t)
	for sql, want := range map[string]string{
		"SELECT MEDIAN(age) FROM patients":                                          "quantile",
		"SELECT MIN(age) FROM patients":                                             "quantile",
		"SELECT COUNT(DISTINCT zip) FROM patients":                                  "different values",
		"SELECT STDDEV(age) FROM patients":                                          "variance",
		"SELECT SUM(age) / COUNT(*) FROM patients":                                  "computed",
		"SELECT dp_low(COUNT(*)) FROM patients":                                     "computed",
		"SELECT COUNT(*) FROM patients GROUP BY sex":                                "does not show",
		"SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > 9":       "HAVING",
		"SELECT sex, COUNT(*) FROM patients GROUP BY sex LIMIT 2":                   "LIMIT",
		"SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY 2":                "ORDER BY",
		"SELECT sex FROM patients GROUP BY sex ORDER BY COUNT(*) DESC LIMIT 1":      "best",
		"SELECT DISTINCT COUNT(*) FROM patients":                                    "DISTINCT",
		"SELECT sex, COUNT(*) FROM patients GROUP BY ROLLUP (sex)":                  "grouping sets",
		"SELECT zip, COUNT(*) FROM patients GROUP BY zip":                           "at southern its keys are private",
		"SELECT sex, SUM(COUNT(*)) OVER (ORDER BY sex) FROM patients GROUP BY sex":  "around answers",
		"SELECT DISTINCT sex FROM patients":                                         "no noisy number",
		"SELECT sex, sex, COUNT(*) FROM patients GROUP BY sex":                      "another column has already",
		"SELECT sex, sex AS s, COUNT(*) FROM patients GROUP BY sex, s":              "another column has already",
		"SELECT (20000000 + age)::real AS x, COUNT(*) FROM patients GROUP BY x":     "look the same in x",
		"SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM patients GROUP BY sex) AS t": "around answers",
		"SELECT COUNT(*) FROM patients WHERE CURRENT_DATE > '2020-01-01'":           "differ from server to server",
		"SELECT age FROM patients":                                                  "nothing was charged",
		"SELECT COUNT(*) FROM nowhere":                                              "nothing was charged",
		"; nonsense":                                                                "nothing was charged",
		" ":                                                                         "empty",
	} {
		_, err := both.Ask(ctx, Question{SQL: sql})
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, new(*Partial)) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, q := range []Question{
		{SQL: "SELECT COUNT(*) FROM patients", Settings: map[string]string{"dp.stream": "on"}},
		{SQL: "SELECT COUNT(*) FROM patients", Settings: map[string]string{"dp.nothing": "1"}},
		{SQL: "SELECT COUNT(*) FROM patients", Settings: map[string]string{"dp.confidence": "2"}},
		{SQL: "SELECT COUNT(*) FROM patients", Settings: map[string]string{"dp.error": "2"}, Epsilon: dp.One},
		{SQL: "SELECT COUNT(*) FROM patients", Request: strings.Repeat("x", 41)},
		{SQL: "SELECT COUNT(*) FROM patients", Request: "a b"},
		{SQL: "SELECT COUNT(*) FROM patients", Epsilon: 100 * dp.One},
		{SQL: "SELECT COUNT(*) FROM patients WHERE age > $1"},
	} {
		if _, err := both.Ask(ctx, q); err == nil {
			t.Errorf("%+v is asked", q)
		}
	}
	other := north.reach(t, "alias", strings.Replace(north.address, "127.0.0.1", "localhost", 1))
	for want, group := range map[string]*Group{
		"nothing to combine": Together(north.Server), "named twice": Together(north.Server, north.Server),
		"have the same data": Together(north.Server, south.Server, other), "there is nothing": Together(),
	} {
		if _, err := group.Ask(ctx, Question{SQL: "SELECT COUNT(*) FROM patients"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v; want %q", err, want)
		}
	}
	if after := north.left(t) + south.left(t); after != before {
		t.Errorf("there was %s before and %s after", before, after)
	}
	// What an older server says of a key that it does not know.
	unheard := map[string]any{"sql": "SELECT COUNT(*) FROM patients", "unheard": true}
	err := north.Call(ctx, http.MethodPost, "/v1/explain", unheard, new(any))
	var said *ServerError
	if !errors.As(err, &said) || said.Kind != "invalid" || !strings.Contains(said.Detail, unknownKeyText) {
		t.Errorf("a key that it does not know: %v", err)
	}
	// A wrong token, in the words of who has one.
	stranger, err := New(north.address, "nobody's")
	must(t, err)
	err = stranger.Call(ctx, http.MethodGet, "/v1/me", nil, new(any))
	if !errors.As(err, &said) || said.Kind != "denied" || !strings.Contains(err.Error(), "discreet user token") {
		t.Errorf("a wrong token: %v", err)
	}
}
