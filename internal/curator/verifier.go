package curator

import (
	"context"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/policy"
)

// secondChecks are the second check of everything that goes to an engine. Tests plant others.
type secondChecks struct {
	query   func(*policy.Dataset, *tree.Query) error
	cube    func(*policy.Dataset, *tree.Cube, []*tree.Plan) error
	cells   func(*policy.Dataset, *tree.Query) error
	holdout func(*policy.Dataset, *tree.Holdout) error
	table   func(*policy.Dataset, *tree.Table) error
	people  func(*policy.Dataset, *tree.Query) error
	// These two say how much one person can add to the work.
	work      func(*policy.Dataset, tree.Public, *tree.Query) error
	tableWork func(*policy.Dataset, tree.Public, *tree.Table) error
}

var independentChecks = secondChecks{verify.Query, verify.Cube, verify.Cells, verify.Holdout, verify.Table, verify.People, verify.Work,
	verify.TableWork}

// verifier derives once more what every tree claims that goes to the engine.
type verifier struct {
	runner *runner
	checks secondChecks
}

// asDisagreement is what a second check says, as an error for the analyst.
func asDisagreement(err error) error {
	if err == nil {
		return nil
	}
	detail := err.Error()
	if len(detail) > maxDetailBytes { // names that an analyst made up are in it
		detail = strings.ToValidUTF8(detail[:maxDetailBytes], "") + "..."
	}
	return &api.Disagreement{Detail: detail}
}

const maxDetailBytes = 1000

// CheckTwice checks every private query of a statement once more.
func (v *verifier) CheckTwice(st *planner.Statement) error {
	for _, p := range st.Plans {
		if err := v.checkQuery(&p.Query, v.checks.query(v.runner.dataset, &p.Query)); err != nil {
			return err
		}
	}
	for _, t := range st.Cubes {
		if err := v.checkQuery(&t.Query, v.checks.cube(v.runner.dataset, t, st.Plans[t.First:t.First+len(t.Sets)])); err != nil {
			return err
		}
	}
	return nil
}

// checkQuery returns what a second check found in a query, or else what its work is found to be.
func (v *verifier) checkQuery(q *tree.Query, found error) error {
	if found == nil {
		found = v.checks.work(v.runner.dataset, v.sizes(), q)
	}
	return asDisagreement(found)
}

// sizes are those of public tables. The planner has just asked for the same ones, and an engine
// remembers them: nobody waits here.
func (v *verifier) sizes() tree.Public {
	return v.runner.publicTables(context.Background())
}

// CheckCells, CheckHoldout and CheckTable do the same for what sessions run.
func (v *verifier) CheckCells(q *tree.Query) error {
	return v.checkQuery(q, v.checks.cells(v.runner.dataset, q))
}

func (v *verifier) CheckHoldout(h *tree.Holdout) error {
	return v.checkQuery(&h.Query, v.checks.holdout(v.runner.dataset, h))
}

func (v *verifier) CheckTable(t *tree.Table) error {
	found := v.checks.table(v.runner.dataset, t)
	if found == nil {
		found = v.checks.tableWork(v.runner.dataset, v.sizes(), t)
	}
	return asDisagreement(found)
}

// checkPeople does it for the number of people.
func (v *verifier) checkPeople(q *tree.Query) error {
	return asDisagreement(v.checks.people(v.runner.dataset, q))
}
