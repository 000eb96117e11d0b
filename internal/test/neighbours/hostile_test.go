package neighbours_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// TestHostile asks what attackers would. What must be refused is refused; what is taken is
// replayed.
func TestHostile(t *testing.T) {
	families := map[string][]generate.Attack{}
	all := generate.Attacks()
	for _, a := range all {
		families[a.Family] = append(families[a.Family], a)
	}
	worlds := map[*policy.Dataset]planner.Options{}
	for _, ds := range generate.Worlds()[:2] {
		made := generate.Make(generate.NewDice("public", 1), ds)
		worlds[ds] = planner.Options{Public: reference.New(ds, made.Tables).Public()}
	}
	for name, attacks := range families {
		t.Run(name, func(t *testing.T) {
			for _, a := range attacks {
				hostile(t, worlds, a.Verdict, a.Text)
			}
		})
	}
	if len(all) < 200 || len(families) < 5 {
		t.Errorf("only %d attacks in %d families", len(all), len(families))
	}
}

func hostile(t *testing.T, worlds map[*policy.Dataset]planner.Options, verdict, text string) {
	for ds, o := range worlds {
		st, err := planner.Prepare(ds, text, o)
		var r *api.Refusal
		switch {
		case err != nil && !errors.As(err, &r):
			t.Errorf("%s\nnot a refusal: %v", text, err)
		case verdict == "refused" && err == nil:
			t.Errorf("%s\nis not refused", text)
		case verdict == "bounded" && err != nil:
			t.Errorf("%s\nis refused: %v", text, err)
		case verdict == "public" && (err != nil || !st.Free()):
			t.Errorf("%s\nis not public: %v", text, err)
		case verdict != "refused" && verdict != "bounded" && verdict != "either" && verdict != "public":
			t.Errorf("%s\n%q is no verdict", text, verdict)
		}
		if err != nil || st.Free() { // of which no engine hears
			continue
		}
		report, err := neighbours.Replay(t.Context(), ds, neighbours.Options{Pairs: daily.Rounds(5, 30), Texts: []string{text}})
		if err != nil {
			t.Errorf("%s\n%v", text, err)
		}
		for _, f := range report.Findings {
			t.Errorf("%s\n%s", text, f.Detail)
		}
	}
}

func score(name string) map[string]*policy.Column {
	return map[string]*policy.Column{name: {Name: name, Type: policy.Integer, Nullable: true, Granularity: big.NewRat(1, 1),
		Bounds: &policy.Bounds{Lo: new(big.Rat), Hi: big.NewRat(5, 1), HiSteps: 5}}}
}

// TestNames tries policies whose names look like something else. Whose a row is must not depend on
// how things are called.
func TestNames(t *testing.T) {
	rows := &policy.Dataset{
		// The planner says "row of people" where every row is a person; here that is a table's
		// name.
		Name: "rows", Neighbours: dp.AddRemove, Unit: policy.Unit{Table: "row of people", Column: "pid"},
		Tables: map[string]*policy.Table{
			"row of people": {Name: "row of people", UnitKind: policy.Unique, UnitColumn: "pid", MaxRows: 1, MaxGroups: 1,
				Columns: score("a")},
			"row of cards": {Name: "row of cards", UnitKind: policy.Unique, UnitColumn: "pid", MaxRows: 1, MaxGroups: 1,
				Columns: score("b"),
				Path:    []policy.Step{{Column: "pid", Table: "row of people", Key: "pid"}}},
		},
	}
	// The unit is the column "b.c" of a, and an order is told by the column c of "a.b".
	person, order := policy.Step{Column: "who", Table: "a", Key: "b.c"}, policy.Step{Column: "c", Table: "a.b", Key: "c"}
	dots := &policy.Dataset{
		Name: "dots", Neighbours: dp.AddRemove, Unit: policy.Unit{Table: "a", Column: "b.c"},
		Tables: map[string]*policy.Table{
			"a": {Name: "a", UnitKind: policy.Unique, UnitColumn: "b.c", MaxRows: 1, MaxGroups: 1, Columns: score("x")},
			"a.b": {Name: "a.b", UnitKind: policy.Many, UnitColumn: "who", Path: []policy.Step{person}, MaxRows: 1, MaxGroups: 1,
				Columns: score("y")},
			"items": {Name: "items", UnitKind: policy.Many, Path: []policy.Step{order, person}, MaxRows: 1, MaxGroups: 1,
				Columns: score("z")},
		},
	}
	for _, c := range []struct {
		world *policy.Dataset
		texts []string
		taken bool
	}{
		{rows, []string{`SELECT COUNT(*), SUM(x) FROM (SELECT a AS x FROM "row of people" UNION ALL SELECT b FROM "row of cards") AS t`},
			true},
		// Orders of one person whose number is the name of another are nothing of the other's.
		{dots, []string{`SELECT COUNT(*) FROM a JOIN "a.b" AS o ON a."b.c" = o.c`}, false},
		{dots, []string{`SELECT COUNT(*) FROM a WHERE EXISTS (SELECT 1 FROM items WHERE items.c = a."b.c")`}, false},
		{dots, []string{`SELECT COUNT(*) FROM a JOIN "a.b" AS o ON a."b.c" = o.who JOIN items AS i ON i.c = o.c`}, true},
	} {
		r, err := neighbours.Replay(t.Context(), c.world, neighbours.Options{Pairs: daily.Rounds(40, 200), Texts: c.texts})
		if taken := r.Pairs > 0; taken != c.taken {
			t.Errorf("%s: taken %v, want %v: %v", c.texts[0], taken, c.taken, err)
		}
		for _, f := range r.Findings {
			t.Errorf("%s\n%s", f.Subject, f.Detail)
		}
	}
}

// TestHash: questions that differ in names alone have one hash, and questions with one hash have
// one result and one sensitivity. An answer that was paid for is given again by its hash.
func TestHash(t *testing.T) {
	ds := generate.Worlds()[1]
	db := generate.Make(generate.NewDice("hash", 4), ds)
	e := reference.New(ds, db.Tables)
	o := planner.Options{Public: e.Public()}
	m := generate.NewMaker(ds, o)
	type answer struct {
		text   string
		query  *tree.Query
		result *engine.Result
	}
	seen := map[string]answer{}
	again := 0
	n := daily.Rounds(300, 1500)
	for i := range n {
		text := m.Question(generate.NewDice("hash", uint64(i)))
		s, err := generate.Prepare(ds, text, o)
		if err != nil || s.Free() {
			continue
		}
		if !strings.Contains(text, "'"+generate.Mark) {
			other := strings.ReplaceAll(text, generate.Mark, "other")
			if r, err := generate.Prepare(ds, other, o); err != nil || r.Plans[0].Query.Hash() != s.Plans[0].Query.Hash() {
				t.Errorf("another hash under other names: %s\n%v", text, err)
			}
		}
		for _, p := range s.Plans {
			q := &p.Query
			if q.ListsKeys() {
				continue
			}
			r, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			old, ok := seen[q.Hash()]
			if !ok {
				seen[q.Hash()] = answer{text, q, r}
				continue
			}
			again++
			if ratio, err := neighbours.Judge(q, old.result, r); err != nil || ratio != 0 {
				t.Errorf("one hash and two results:\n%s\n%s", old.text, text)
			}
			for k, measure := range q.Measures {
				if measure.Kind != tree.Quantile && q.Sensitivity(measure,
					dp.L1).String() != old.query.Sensitivity(old.query.Measures[k], dp.L1).String() {
					t.Errorf("one hash and two sensitivities:\n%s\n%s", old.text, text)
				}
			}
		}
	}
	if again < n/300 {
		t.Errorf("only %d of %d questions were asked before", again, n)
	}
}
