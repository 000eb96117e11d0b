package neighbours_test

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
)

// TestHostile asks what attackers would. What must be refused is refused; what is taken is
// replayed.
func TestHostile(t *testing.T) {
	families := map[string][]generate.Attack{}
	all := generate.Attacks()
	for _, a := range all {
		families[a.Family] = append(families[a.Family], a)
	}
	for name, attacks := range families {
		t.Run(name, func(t *testing.T) {
			for _, a := range attacks {
				hostile(t, a.Verdict, a.Text)
			}
		})
	}
	if len(all) < 200 || len(families) < 5 {
		t.Errorf("only %d attacks in %d families", len(all), len(families))
	}
}

func hostile(t *testing.T, verdict, text string) {
	for _, ds := range generate.Worlds()[:2] {
		made := generate.Make(generate.NewDice("public", 1), ds)
		st, err := plan.Prepare(ds, text, plan.Options{Public: reference.New(ds, made.Tables).Public()})
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
		if err != nil || verdict == "public" { // of which no engine hears
			continue
		}
		report, err := neighbours.Replay(t.Context(), ds, neighbours.Options{Pairs: 30, Texts: []string{text}})
		if err != nil {
			t.Errorf("%s\n%v", text, err)
		}
		for _, f := range report.Findings {
			t.Errorf("%s\n%s", text, f.Detail)
		}
	}
}
