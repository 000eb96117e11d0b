package planner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/reference"
)

// cuts reports whether somebody is in more groups of a query than a number.
func cuts(t *testing.T, e *reference.Engine, q *tree.Query, groups int64) bool {
	t.Helper()
	all, some := *q, *q
	// Which values of a person count is decided by the question's name, so all do.
	all.RowLimit, some.RowLimit = tree.MostRows, tree.MostRows
	all.GroupLimit, some.GroupLimit = tree.MostRows, groups
	a, err := e.Run(context.Background(), &all)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.Run(context.Background(), &some)
	if err != nil {
		t.Fatal(err)
	}
	a.Members, b.Members = sealed.Members{}, sealed.Members{} // they are told where somebody may be in several groups
	far, err := neighbours.Judge(&all, a, b)
	return far != 0 || err != nil
}

// planted are mistakes in the derivation of what is a function of the person, as trees from which
// the right derivation makes them.
var planted = map[string]func(*tree.Join){
	"rows without a partner are forgotten": func(j *tree.Join) { j.Left = j.Full },
	"every public column is a key": func(j *tree.Join) {
		for _, side := range []tree.Relation{j.L, j.R} {
			if s, ok := side.(*tree.Scan); ok && s.Table.Public {
				for i := range s.Row {
					s.Row[i].Key = true
				}
			}
		}
	},
	"every row has its own key": func(j *tree.Join) {
		for i := range j.Row {
			j.Row[i].Key = true
		}
	},
	"who has many rows has one": func(j *tree.Join) { j.IsSingle = true },
}

// plant puts a mistake into all joins of a relation.
func plant(r tree.Relation, wrong func(*tree.Join)) {
	switch r := r.(type) {
	case *tree.Join:
		plant(r.L, wrong)
		plant(r.R, wrong)
		wrong(r)
	case *tree.Select:
		plant(r.From, wrong)
	case *tree.Persons:
		plant(r.From, wrong)
	case *tree.Window:
		plant(r.From, wrong)
	case *tree.Cut:
		plant(r.From, wrong)
	case *tree.Union:
		for _, p := range r.Parts {
			plant(p, wrong)
		}
	}
}

// home joins visits with who they are of.
const home = "FROM visits v JOIN patients p ON p.pid = v.pid "

// byPerson are questions that are grouped by what may be a function of the person.
var byPerson = []string{
	"SELECT c.label, COUNT(*) " + home + "JOIN codes c ON c.code = p.code GROUP BY c.label",
	"SELECT c.label, COUNT(*) " + home + "JOIN codes c ON c.code = v.code GROUP BY c.label",
	"SELECT c.label, COUNT(*) " + home + "LEFT JOIN codes c ON c.code = p.code GROUP BY c.label",
	"SELECT c.label, COUNT(*) " + home + "LEFT JOIN codes c ON c.code = p.code AND v.urgent GROUP BY c.label",
	"SELECT r.zone, COUNT(*) " + home + "JOIN rates r ON r.code = p.code GROUP BY r.zone",
	"SELECT r.code, COUNT(*) " + home + "JOIN rates r ON r.code = p.code GROUP BY r.code",
	"SELECT r.code, COUNT(*) FROM visits v, patients p, rates r WHERE p.pid = v.pid AND r.code = p.code GROUP BY r.code",
	"SELECT c.label, COUNT(*) FROM visits v, patients p, rates r, codes c WHERE p.pid = v.pid " +
		"AND r.code = p.code AND c.code = r.rate GROUP BY c.label",
	"SELECT f.tier, COUNT(*) FROM visits v LEFT JOIN profiles f ON f.owner = v.pid AND f.code = v.code GROUP BY f.tier",
	"SELECT f.tier, COUNT(*) FROM visits v LEFT JOIN profiles f ON f.owner = v.pid AND f.code > 1 GROUP BY f.tier",
	"SELECT p.diagnosis, COUNT(*) " + home + "GROUP BY p.diagnosis",
	"SELECT p.diagnosis, v.note, COUNT(*) " + home + "GROUP BY p.diagnosis, v.note",
	"SELECT p.diagnosis, v.ward, COUNT(*) " + home + "GROUP BY p.diagnosis, v.ward",
	"SELECT p.sex, v.ward, COUNT(*) " + home + "GROUP BY p.sex, v.ward",
	"SELECT p.sex, o.status, COUNT(*) FROM items i JOIN orders o ON o.oid = i.oid " +
		"JOIN patients p ON p.pid = o.buyer GROUP BY p.sex, o.status",
	"SELECT v.code, COUNT(*) " + home + "AND p.code = v.code GROUP BY v.code",
	"SELECT EXISTS (SELECT 1 FROM orders o WHERE o.buyer = v.pid) AS x, COUNT(*) FROM visits v GROUP BY x",
	"SELECT EXISTS (SELECT 1 FROM orders o WHERE o.buyer = v.pid AND o.code = v.code) AS x, COUNT(*) FROM visits v GROUP BY x",
	"SELECT n, COUNT(*) FROM (SELECT v.pid, p.sex, COUNT(*) AS n " + home + "GROUP BY v.pid, p.sex) AS t GROUP BY n",
	"SELECT n, COUNT(*) FROM (SELECT v.pid, v.ward, COUNT(*) AS n FROM visits v GROUP BY v.pid, v.ward) AS t GROUP BY n",
	"SELECT m, COUNT(*) FROM (SELECT v.cost, count(*) OVER (PARTITION BY v.pid, p.code) AS m " + home + ") AS t GROUP BY m",
	"SELECT m, COUNT(*) FROM (SELECT v.cost, count(*) OVER (PARTITION BY v.pid, v.code) AS m FROM visits v) AS t GROUP BY m",
	"SELECT p.sex, COUNT(*) FROM (SELECT pid FROM visits) AS v " +
		"FULL JOIN (SELECT pid, sex FROM patients) AS p ON v.pid = p.pid GROUP BY p.sex",
}

// TestOnceGroups: where data is as the policy says, nobody is in more groups than is derived from
// the keys that are functions of the person. Each planted mistake is found.
func TestOnceGroups(t *testing.T) {
	claimed, found := 0, map[string]int{}
	try := func(t *testing.T, db *generate.Database, text string) {
		e := reference.New(db.Dataset, db.Tables)
		options := planner.Options{Public: e.Public()}
		st, err := generate.Prepare(db.Dataset, text, options)
		if err != nil {
			return
		}
		for i, p := range st.Plans {
			q := &p.Query
			if q.Choice != nil || q.ListsKeys() || !q.Bounded() {
				continue
			}
			if n := planner.OnceGroups(q); n < tree.MostRows && (len(q.PrivateKeys()) > 0 || n < int64(q.Groups())) {
				claimed++
				if cuts(t, e, q, n) {
					t.Errorf("%s\nsomebody is in more than %d groups of\n%s", text, n, q.Format())
				}
			}
			for name, wrong := range planted {
				if found[name] > 0 {
					continue
				}
				again, _ := generate.Prepare(db.Dataset, text, options)
				bad := &again.Plans[i].Query
				plant(bad.From, wrong)
				if n := planner.OnceGroups(bad); n < tree.MostRows && n < planner.OnceGroups(q) && cuts(t, e, q, n) {
					found[name]++
				}
			}
		}
	}
	worlds := generate.Worlds()
	var makers []*generate.Maker
	for _, ds := range worlds {
		makers = append(makers, generate.NewMaker(ds, planner.Options{Public: reference.New(ds, nil).Public()}))
	}
	const least, seeds = 40, 8
	for i := range seeds { // beginning with another one every day, until everything was found
		if !daily.Full() && i >= 2 && len(found) == len(planted) && claimed >= least {
			break
		}
		for w, ds := range worlds {
			maker := makers[w]
			d := generate.NewDice(fmt.Sprint("once ", w), uint64((daily.Turn(seeds)+i)%seeds))
			db := generate.Make(d, ds)
			for range 12 {
				try(t, db, maker.Question(d))
			}
			for _, text := range byPerson {
				if strings.HasPrefix(ds.Name, "clinic") {
					try(t, db, text)
				}
			}
		}
	}
	if claimed < daily.Rounds(least, 100) {
		t.Errorf("only %d questions have keys that are functions of the person", claimed)
	}
	for name := range planted {
		if found[name] == 0 {
			t.Errorf("not found: %s", name)
		}
	}
}
