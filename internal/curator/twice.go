package curator

import (
	"context"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/plan/verify"
	"github.com/discreet-dp/discreet/policy"
)

// opinion is the second check of everything that goes to an engine. Tests plant others.
type opinion struct {
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

var secondOpinion = opinion{verify.Query, verify.Cube, verify.Cells, verify.Holdout, verify.Table, verify.People, verify.Work,
	verify.TableWork}

// agreed is what a second check says, as an error for the analyst.
func agreed(err error) error {
	if err == nil {
		return nil
	}
	detail := err.Error()
	if len(detail) > mostDetail { // names that an analyst made up are in it
		detail = strings.ToValidUTF8(detail[:mostDetail], "") + "..."
	}
	return &api.Disagreement{Detail: detail}
}

const mostDetail = 1000

// CheckTwice checks every private query of a statement once more.
func (c *Curator) CheckTwice(st *plan.Statement) error {
	for _, p := range st.Plans {
		if err := c.checkQuery(&p.Query, c.second.query(c.dataset, &p.Query)); err != nil {
			return err
		}
	}
	for _, t := range st.Cubes {
		if err := c.checkQuery(&t.Query, c.second.cube(c.dataset, t, st.Plans[t.First:t.First+len(t.Sets)])); err != nil {
			return err
		}
	}
	return nil
}

// checkQuery returns what a second check found in a query, or else what its work is found to be.
func (c *Curator) checkQuery(q *tree.Query, found error) error {
	if found == nil {
		found = c.second.work(c.dataset, c.sizes(), q)
	}
	return agreed(found)
}

// sizes are those of public tables. The planner has just asked for the same ones, and an engine
// remembers them: nobody waits here.
func (c *Curator) sizes() tree.Public {
	if c.engine == nil {
		return nil
	}
	return public{context.Background(), c.engine}
}

// CheckCells, CheckHoldout and CheckTable do the same for what sessions run.
func (c *Curator) CheckCells(q *tree.Query) error {
	return c.checkQuery(q, c.second.cells(c.dataset, q))
}

func (c *Curator) CheckHoldout(h *tree.Holdout) error {
	return c.checkQuery(&h.Query, c.second.holdout(c.dataset, h))
}

func (c *Curator) CheckTable(t *tree.Table) error {
	found := c.second.table(c.dataset, t)
	if found == nil {
		found = c.second.tableWork(c.dataset, c.sizes(), t)
	}
	return agreed(found)
}
