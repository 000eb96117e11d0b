package curator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
)

// attacker overfits a holdout: guesses at random, keeps what scores above one half, and lets the
// guesses vote (Blum, Hardt 2015). Labels are coins, so nobody can be right more often than every
// second time on new data, and every score above one half is luck.
type attacker struct {
	random *rand.Rand
	votes  []int
}

// guess makes up predictions.
func (a *attacker) guess() []int {
	out := make([]int, labelCount)
	for i := range out {
		out[i] = a.random.IntN(2)
	}
	return out
}

// learn uses a score: who is above one half is believed, who is below is believed to be wrong.
func (a *attacker) learn(guess []int, score float64) {
	sign := 0
	switch {
	case score > 0.5:
		sign = 1
	case score < 0.5:
		sign = -1
	}
	for i, g := range guess {
		a.votes[i] += sign * (2*g - 1)
	}
}

// vote is what all together predict.
func (a *attacker) vote() []int {
	out := make([]int, labelCount)
	for i, v := range a.votes {
		if v > 0 || v == 0 && a.random.IntN(2) == 1 {
			out[i] = 1
		}
	}
	return out
}

func right(guess, labels []int) float64 {
	n := 0
	for i, g := range guess {
		if g == labels[i] {
			n++
		}
	}
	return float64(n) / labelCount
}

func texts(guess []int) []string {
	out := make([]string, len(guess))
	for i, g := range guess {
		out[i] = strconv.Itoa(g)
	}
	return out
}

// An attack that reaches far above one half with exact scores gains nothing with Thresholdout:
// neither where the attacker claims the truth, which is always confirmed, nor where the claim is at
// the threshold, so that every answer would tell most, and the holdout is soon used up.
func TestHoldoutIsNotOverfitted(t *testing.T) {
	const tries = 300
	coins := rand.New(rand.NewChaCha8([32]byte{7}))
	labels := make([]int, labelCount)
	for i := range labels {
		labels[i] = coins.IntN(2)
	}
	fresh := func() *attacker {
		return &attacker{random: rand.New(rand.NewChaCha8([32]byte{8})), votes: make([]int, labelCount)}
	}
	plain := fresh()
	for range tries {
		g := plain.guess()
		plain.learn(g, right(g, labels))
	}
	if got := right(plain.vote(), labels); got < 0.65 {
		t.Errorf("the attack is too weak to show anything: %.3f with exact scores", got)
	}
	file := "label\n" + strings.Join(texts(labels), "\n") + "\n"
	for _, claim := range []float64{0.5, 0.4} {
		w := newHoldouts(t, plenty, map[string]string{"labels.csv": file})
		a := fresh()
		told, paid := 0, 0
		for range tries {
			g := a.guess()
			answer, err := w.score(trial(texts(g), fmt.Sprint(claim)))
			if err != nil {
				if _, refused := err.(*api.Refusal); !refused {
					t.Fatal(err)
				}
				break
			}
			told++
			if !answer.Spent {
				// Confirmed: nobody knows on which side of one half it is.
				a.learn(g, 0.5)
				continue
			}
			paid++
			score, _ := strconv.ParseFloat(answer.Score, 64)
			a.learn(g, score)
		}
		best := a.vote()
		got := right(best, labels)
		t.Logf("claim %.1f: %d scores, %d from the holdout, %.3f at the end; with exact scores %.3f", claim, told, paid, got,
			right(plain.vote(), labels))
		if got > 0.5+3*math.Sqrt(0.25/labelCount)+0.02 {
			t.Errorf("claim %.1f: the vote is right in %.3f of the holdout", claim, got)
		}
		if claim == 0.5 && (told != tries || paid > 1) {
			t.Errorf("%d of %d scores were told, %d of them from the holdout: honest claims use it up", told, tries, paid)
		}
		if paid > 3 {
			t.Errorf("%d answers from a holdout that has 3", paid)
		}
		if spent := w.spent().Epsilon; spent > amount("1.5") {
			t.Errorf("spent %v", spent)
		}
		// And what the attacker boasts of is contradicted, while there is anything left to
		// contradict with.
		if answer, err := w.score(trial(texts(best), "0.7")); err == nil {
			score, _ := strconv.ParseFloat(answer.Score, 64)
			if !answer.Spent || math.Abs(score-got) > 0.05 {
				t.Errorf("a claim of 0.7 is answered with %s, and the truth is %.3f", answer.Score, got)
			}
		}
	}
}
