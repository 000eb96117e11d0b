package curator

import (
	"regexp"
	"strings"
	"testing"
)

// What a refusal advises can be paid: it looks at every account that the question is
// charged to, and not only at the one that refused first.
func TestAdviceCanBePaid(t *testing.T) {
	for name, budget := range map[string]string{"pure": pure, "zCDP": concentrated} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, budget) // ana may use all of it, ben half
			_, err := w.askAs("ben", byAge(1), amount("0.11"))
			w.check(err)
			_, err = w.askAs("ben", byAge(2), amount("1"))
			if err == nil {
				t.Fatal("ben got more than there is")
			}
			found := regexp.MustCompile(`epsilon of at most ([0-9.]+),`).FindStringSubmatch(err.Error())
			if found == nil {
				t.Fatalf("no advice in: %v", err)
			}
			if _, err := w.askAs("ben", byAge(2), amount(found[1])); err != nil {
				t.Errorf("advised %s, and then: %v", found[1], err)
			}
		})
	}
}

// Where nothing is left no smaller epsilon is advised, though another account has some.
func TestNothingLeft(t *testing.T) {
	w := newWorld(t, pure)
	_, err := w.askAs("ben", byAge(1), amount("0.5"))
	w.check(err)
	_, err = w.askAs("ben", byAge(2), amount("1"))
	if err == nil || !strings.Contains(err.Error(), "Nothing is left to ask with") {
		t.Errorf("got: %v", err)
	}
}

// What was spent under a budget with a delta has no pure epsilon. Where the owner takes the delta
// away, that is said, and not that another window or a higher limit would help.
func TestAdviceWithoutDelta(t *testing.T) {
	w := newWorld(t, concentrated)
	_, err := w.askAs("ana", byAge(1), amount("0.1"))
	w.check(err)
	w.dataset.Budget.Delta, w.dataset.Budget.KeysDelta = 0, 0
	_, err = w.askAs("ana", byAge(2), amount("0.1"))
	if err == nil || !strings.Contains(err.Error(), "give the budget its delta back") {
		t.Errorf("got: %v", err)
	}
}
