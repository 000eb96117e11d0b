package neighbours

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/audit/finding"
	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/policy"
)

// Agree compares an engine with the reference on the same made-up databases. They must agree
// exactly where the dataset's limits are so high that nobody is cut; elsewhere each may keep
// something else of a person.
func Agree(ctx context.Context, ds *policy.Dataset, o Options) (Report, error) {
	var r Report
	made := generate.Make(generate.NewDice("language", o.Seed), ds)
	maker := generate.NewMaker(ds, plan.Options{Public: reference.New(ds, made.Tables).Public()})
	for n := 0; r.Pairs < o.Pairs && len(r.Findings) < maxFindings; n++ {
		d := generate.NewDice(fmt.Sprint("agree ", n), o.Seed)
		db := generate.Make(d, ds)
		e, closed, err := o.Open(ctx, db)
		if err != nil {
			return r, err
		}
		ref := reference.New(ds, db.Tables)
		for range o.Questions {
			text := maker.Question(d)
			s, err := generate.Prepare(ds, text, plan.Options{Public: ref.Public(), MaxSum: maxPersonSum(d)})
			if err != nil {
				r.Refused++
				continue
			}
			for _, p := range s.Plans {
				q := &p.Query
				if q.ListsKeys() {
					continue // of which no engine hears
				}
				r.Pairs++
				want, err := ref.Run(ctx, q)
				if err != nil {
					return r, err
				}
				got, err := e.Run(ctx, q)
				detail := ""
				if err != nil {
					detail = "the engine failed: " + err.Error()
				} else if ratio, err := Judge(q, want, got); err != nil || ratio != 0 {
					detail = fmt.Sprintf("the results differ: %v", err)
				}
				if detail != "" {
					r.Findings = append(r.Findings,
						finding.Finding{Subject: text, Check: "agreement", Samples: 1, Lower: 1, Detail: detail})
				}
			}
		}
		if err := closed(); err != nil {
			return r, err
		}
	}
	return r, nil
}
