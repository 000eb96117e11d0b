package plan_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/plan"
)

// FuzzPrepare checks that every text becomes a plan that can be priced, or a refusal at a
// place inside the text. The corpus is all of testdata.
func FuzzPrepare(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		for _, c := range readCases(f, file)[1:] {
			text, _, _ := strings.Cut(c, "----\n")
			f.Add(strings.TrimSuffix(text, "\n"))
		}
	}
	ds := hospital(f)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := plan.Prepare(ds, text)
		if err != nil {
			checkRefusal(t, text, err)
			return
		}
		if len(p.Outputs) < p.Visible || p.Visible == 0 || len(p.Query.Measures) == 0 || p.Query.Groups() < 1 {
			t.Errorf("an empty plan: %+v", p)
		}
		for _, m := range p.Query.Measures {
			p.Query.Sensitivity(m, dp.L1) // panics where it is not positive
			p.Query.Sensitivity(m, dp.L2)
			m.Describe()
		}
		for _, o := range p.Outputs {
			if o.Kind != plan.KeyOutput && (o.Measure >= len(p.Query.Measures) || o.Count >= len(p.Query.Measures)) {
				t.Errorf("a column of no measure: %+v", o)
			}
		}
		again, err := plan.Prepare(ds, text+" ")
		if err != nil || again.Query.Hash() != p.Query.Hash() {
			t.Errorf("the same question twice: %v", err)
		}
	})
}

func checkRefusal(t *testing.T, text string, err error) {
	var r *plan.Refusal
	switch {
	case !errors.As(err, &r):
		t.Errorf("not a refusal: %v", err)
	case r.Reason == "" || r.Instead == "":
		t.Errorf("a refusal that does not help: %+v", r)
	case !utf8.ValidString(r.Error()):
		t.Errorf("a refusal that is not text: %q", r.Error())
	case r.Position < -1 || r.Position > len(text):
		t.Errorf("position %d of %d bytes: %v", r.Position, len(text), r)
	case r.Position >= 0 && r.Position < len(text) && !utf8.RuneStart(text[r.Position]):
		t.Errorf("position %d is inside a character: %v", r.Position, r)
	}
}
