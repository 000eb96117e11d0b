package curator

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/plan/verify"
	"github.com/discreet-dp/discreet/policy"
)

// Disagreement is a refusal of a question that was checked twice, where the second check does not find what the first one claims: a mistake of
// ours, in one of the two. It costs nothing. What an analyst reads is the same for all of them, because what exactly is wrong
// would help to look for what only one of the two is wrong about.
type Disagreement struct {
	// Detail says where the two differ. It is for the owner and for who mends it, is made of the question and the policy, and holds no data.
	Detail string
}

func (d *Disagreement) Error() string { return disagreement.Error() }

// Unwrap makes it a refusal.
func (d *Disagreement) Unwrap() error { return disagreement }

var disagreement = refusal("ask it in another way, and tell the owner, who finds it in the log", "this question was checked twice, and the two checks do not agree; nothing was computed or charged")

// opinion is the second check of everything that goes to an engine. Tests plant others.
type opinion struct {
	query   func(*policy.Dataset, *tree.Query) error
	cells   func(*policy.Dataset, *tree.Query) error
	holdout func(*policy.Dataset, *tree.Holdout) error
	table   func(*policy.Dataset, *tree.Table) error
}

var secondOpinion = opinion{verify.Query, verify.Cells, verify.Holdout, verify.Table}

// agreed is what a second check says, as an error for the analyst.
func agreed(err error) error {
	if err == nil {
		return nil
	}
	detail := err.Error()
	if len(detail) > mostDetail { // names that an analyst made up are in it
		detail = strings.ToValidUTF8(detail[:mostDetail], "") + "..."
	}
	return &Disagreement{detail}
}

const mostDetail = 1000

// twice checks every private query of a statement once more.
func (c *Curator) twice(st *plan.Statement) error {
	for _, p := range st.Plans {
		if err := agreed(c.second.query(c.dataset, &p.Query)); err != nil {
			return err
		}
	}
	return nil
}
