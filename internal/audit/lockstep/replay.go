package lockstep

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/audit/finding"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Question asks a question of two neighbouring databases with the same randomness, and
// says whether anything differs that must not. Lower is how far the exact values are
// apart, as a part of what the noise was calibrated to, and Claim is 1.
func Question(ctx context.Context, s System, a, b Database, question string, seed uint64) finding.Finding {
	t := tally{question: question}
	t.try(ctx, s, Pair{Name: "these two", A: a, B: b}, seed)
	return t.finding()
}

// tally is what is known about one question.
type tally struct {
	question       string
	pairs, moved   int
	answered       int
	worst          float64
	where, problem string
}

// try replays the question on one more pair. After the first counterexample there is
// nothing more to find.
func (t *tally) try(ctx context.Context, s System, p Pair, seed uint64) {
	if t.problem != "" {
		return
	}
	var prepared *tree.Plan
	public := false
	if st, err := plan.Prepare(p.A.Dataset, t.question, peopleOptions(p.A.Dataset)); err == nil {
		if public = st.Free(); st.Outer == nil && len(st.Plans) > 0 {
			prepared = st.Plans[0]
		}
	}
	other := make(chan outcome)
	go func() { other <- s.open(p.B, seed).ask(ctx, p.B, t.question) }()
	a := s.open(p.A, seed).ask(ctx, p.A, t.question)
	b := <-other
	ratio, err := judge(prepared, a, b)
	if public {
		ratio, err = 0, judgePublic(a, b)
	}
	t.pairs++
	if ratio > 0 {
		t.moved++
	}
	if a.answer != nil {
		t.answered++
	}
	if ratio > t.worst || t.where == "" {
		t.worst, t.where = ratio, p.Name
	}
	if err != nil {
		t.where, t.problem = p.Name, err.Error()
	}
}

func (t *tally) finding() finding.Finding {
	f := finding.Finding{Subject: t.question, Check: "replay", Claim: 1, Lower: t.worst, Samples: t.pairs, Stands: t.problem == ""}
	switch {
	case t.problem != "":
		f.Detail = fmt.Sprintf("%s: %s", t.where, t.problem)
	case t.answered == 0:
		f.Detail = fmt.Sprintf("refused alike on %d pairs of neighbours", t.pairs)
	case t.moved == 0:
		f.Detail = fmt.Sprintf("%d pairs of neighbours, and nobody moved it", t.pairs)
	default:
		f.Detail = fmt.Sprintf("%d pairs of neighbours, %d of them apart, the farthest: %s", t.pairs, t.moved, t.where)
	}
	return f
}
