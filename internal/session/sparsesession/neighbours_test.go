package sparsesession

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	noises "github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/lab/stat"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/ledger"
)

// Questions of sessions, with thresholds that are never met, so that all of them are computed.
var sparseQuestions = []string{
	"SELECT COUNT(*) FROM patients",
	"SELECT COUNT(*) FROM patients WHERE smoker",
	"SELECT COUNT(*) FROM patients WHERE NOT smoker",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV'",
	"SELECT COUNT(*) FROM patients WHERE diagnosis <> 'HIV' AND age > 40",
	"SELECT COUNT(age) FROM patients WHERE sex = 'F'",
	"SELECT COUNT(sex) FROM patients",
	"SELECT COUNT(DISTINCT pid) FROM visits WHERE cost > 100",
	"SELECT COUNT(*) FROM visits",
	"SELECT COUNT(*) FROM visits WHERE ward = 'surgery'",
	"SELECT COUNT(*) FROM visits WHERE ward <> 'surgery'",
	"SELECT COUNT(DISTINCT pid) FROM visits WHERE ward = 'emergency'",
	"SELECT COUNT(DISTINCT pid) FROM visits WHERE ward = 'surgery'",
	"SELECT SUM(age) FROM patients",
	"SELECT SUM(age) FROM patients WHERE smoker",
	"SELECT SUM(110 - age) FROM patients",
	"SELECT SUM(age - 50) FROM patients",
	"SELECT SUM(CASE WHEN smoker THEN 3 ELSE -2 END) FROM patients",
	"SELECT COUNT(*) FROM patients p JOIN visits v ON p.pid = v.pid WHERE p.age > 20",
	"SELECT COUNT(*) FROM patients WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = patients.pid)",
}

// asked is what came of the questions of one session on one database.
type asked struct {
	charges  []ledger.Charge
	verdicts []string
	calls    []mech.Call
}

// replay opens a session and asks everything, after what somebody has done to the session.
func (w *world) replay(q api.SparseQuestion, plant func(*Session)) (asked, *Session) {
	w.t.Helper()
	w.charges = nil
	s, err := w.Open(ctx, q)
	w.check(err)
	if plant != nil {
		plant(s)
	}
	var out asked
	w.Releaser.Record(func(c mech.Call) { out.calls = append(out.calls, c) })
	defer w.Releaser.Record(nil)
	for _, text := range sparseQuestions {
		v, err := s.Ask(ctx, text, "1000000000000")
		if err != nil {
			out.verdicts = append(out.verdicts, err.Error())
			continue
		}
		out.verdicts = append(out.verdicts, fmt.Sprint(*v))
	}
	out.charges = w.charges
	return out, s
}

// judgeSparse compares a session on two neighbouring databases, with the same randomness. By the
// proof at mech.Sparse a transcript is worth D/threshold + c moves D/question + c D/value, where D
// is how far a question moved, and moves is 1 where all moved the same way and else 2. That has to
// be within the charge. What was said has to be the same, where thresholds are out of reach.
func judgeSparse(a, b asked, m *mech.Sparse, above int) error {
	if len(a.charges) != 1 || len(b.charges) != 1 || a.charges[0].Cost != b.charges[0].Cost ||
		a.charges[0].Mechanisms != b.charges[0].Mechanisms {
		return fmt.Errorf("charged %v against %v", a.charges, b.charges)
	}
	if fmt.Sprint(a.verdicts) != fmt.Sprint(b.verdicts) {
		return fmt.Errorf("said %v against %v", a.verdicts, b.verdicts)
	}
	if len(a.calls) != len(b.calls) || len(a.calls) == 0 {
		return fmt.Errorf("%d calls against %d", len(a.calls), len(b.calls))
	}
	var far int64
	up, down := false, false
	for i, c := range a.calls {
		d := b.calls[i]
		if c.Mechanism != d.Mechanism || c.Parameter.Cmp(d.Parameter) != 0 || c.Sensitivity.String() != d.Sensitivity.String() ||
			c.Values.Len() != 1 || d.Values.Len() != 1 {
			return fmt.Errorf("call %d: %v against %v", i, c, d)
		}
		moved := c.Values.Open()[0] - d.Values.Open()[0]
		up, down, far = up || moved > 0, down || moved < 0, max(far, moved, -moved)
	}
	if far > m.Sensitivity().L1().Int64() {
		return fmt.Errorf("one person moves a question by %d, and the noise is for %v", far, m.Sensitivity())
	}
	moves := int64(1)
	if up && down {
		moves = 2
	}
	threshold, question, value := m.Parameters()
	worth := new(big.Rat).Quo(new(big.Rat).SetInt64(far), threshold)
	worth.Add(worth, new(big.Rat).Quo(new(big.Rat).SetInt64(far*moves*int64(above)), question))
	if value != nil {
		worth.Add(worth, new(big.Rat).Quo(new(big.Rat).SetInt64(far*int64(above)), value))
	}
	if worth.Cmp(a.charges[0].Cost.Epsilon.Rat()) > 0 {
		return fmt.Errorf("one person is worth epsilon %s, and %v was charged", worth.FloatString(6), a.charges[0].Cost.Epsilon)
	}
	return nil
}

// unlike is somebody else in the target's place: larger in some questions, and smaller in others.
func unlike() *hospital.Hospital {
	h := hospital.New(120, 1)
	for i := range h.Patients {
		if p := &h.Patients[i]; p.ID == hospital.Target {
			p.Age, p.Diagnosis, p.Smoker = 0, "flu", !p.Smoker
		}
	}
	for i := range h.Visits {
		if h.Visits[i].Patient == hospital.Target {
			h.Visits[i].Ward = "emergency"
		}
	}
	for range 10 {
		h.Visits = append(h.Visits, hospital.Visit{Patient: hospital.Target, Day: "2025-01-01", Ward: "surgery", Cents: 50_000})
	}
	return h
}

type neighbours struct {
	name    string
	dataset string
	x, y    *hospital.Hospital
}

func neighbourhoods() []neighbours {
	calm, wild := hospital.New(120, 1), restless(120, 1)
	both, gaussian := hospital.Dataset("hospital", "data", plenty), hospital.Dataset("hospital", "data", rich)
	return []neighbours{
		{"pure", both, wild, wild.Without(hospital.Target)},
		{"pure, calm", both, calm, calm.Without(hospital.Target)},
		{"concentrated", gaussian, wild, wild.Without(hospital.Target)},
		{"substitute", substitute(both), unlike(), calm},
		{"substitute, concentrated", substitute(gaussian), wild, unlike()},
	}
}

func TestSparseNeighbours(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	for _, c := range neighbourhoods() {
		p := newPair(t, c.dataset, c.x, c.y)
		for _, q := range []api.SparseQuestion{
			{Above: 1, Sensitivity: 1}, {Above: 3, Sensitivity: 1, Values: true}, {Above: 4, Sensitivity: 6},
			{Above: 2, Sensitivity: 110, Values: true}, {Above: 2, Sensitivity: 220, Signed: true},
		} {
			q.Analyst = "ana"
			a, s := p.a.replay(q, nil)
			b, _ := p.b.replay(q, nil)
			if err := judgeSparse(a, b, s.mechanism, q.Above); err != nil {
				t.Errorf("%s, %+v: %v", c.name, q, err)
			}
		}
	}
}

// TestSparseCalibration goes through sessions of all sensitivities and all questions: which are
// admitted, and that the scales of the noise are exactly those of the theorem for the sensitivity
// that questions are held against. That noise of these scales is worth no more is enumerated in
// package mech.
func TestSparseCalibration(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	for _, c := range neighbourhoods() {
		w := build(t, c.x, c.dataset, 1)
		replaced := strings.HasPrefix(c.name, "substitute")
		for _, q := range []api.SparseQuestion{{Above: 1}, {Above: 7, Signed: true}} {
			monotone := !replaced && !q.Signed
			for _, d := range []int64{1, 2, 3, 4, 5, 6, 7, 59, 60, 61, 109, 110, 111, 250} {
				q.Sensitivity = d
				m, _, err := w.calibrate(q, big.NewRat(1, 1))
				w.check(err)
				e1, e2, _ := m.Split()
				threshold, question, _ := m.Parameters()
				scale := func(moves int64, e dp.Amount) *big.Rat {
					return new(big.Rat).Quo(new(big.Rat).SetInt64(moves*d), e.Rat())
				}
				moves, thresholds := int64(2*q.Above), int64(1)
				if monotone {
					moves = int64(q.Above)
				}
				if threshold.Cmp(scale(1, e1)) != 0 {
					thresholds = int64(q.Above) // a new one after each "above", each with a part of e1
				}
				if threshold.Cmp(scale(thresholds, e1)) != 0 || question.Cmp(scale(moves, e2)) != 0 {
					t.Fatalf("%s, %+v: scales %v and %v of %v and %v", c.name, q, threshold, question, e1, e2)
				}
				s := &Session{c: w.Sessions, mechanism: m, step: big.NewRat(1, 1), monotone: sameWay(q, w.Dataset.Neighbours)}
				for _, text := range sparseQuestions {
					p, err := planner.Prepare(w.Dataset, text, planner.Options{})
					w.check(err)
					// What a person adds is at most 1, 6 rows, or an age of 110; the rest follows
					// from the question.
					most, signed := int64(1), false
					switch {
					case strings.Contains(text, "SUM(age - 50)"):
						if most, signed = 60, true; replaced {
							most = 110
						}
					case strings.Contains(text, "SUM(CASE"):
						if most, signed = 3, true; replaced {
							most = 5
						}
					case strings.Contains(text, "SUM("):
						most = 110
					case strings.Contains(text, "COUNT(*) FROM visits"), strings.Contains(text, "JOIN visits"):
						most = 6
					}
					if _, err := s.admits(p); (err == nil) != (most <= d && !(signed && monotone)) {
						t.Fatalf("%s, %+v: %s: %v", c.name, q, text, err)
					}
				}
			}
		}
	}
}

// The judge sees sessions that are calibrated to less than their questions move.
func TestSparseNeighboursSeePlantedBugs(t *testing.T) {
	worlds := neighbourhoods()
	for _, c := range []struct {
		name  string
		world neighbours
		q     api.SparseQuestion
		want  string
		plant func(s *Session) *mech.Sparse // returns what noise is really used
	}{
		{"a sensitivity of 1 where a person has 6 rows", worlds[0], api.SparseQuestion{Above: 1, Sensitivity: 1}, "moves a question by",
			func(s *Session) *mech.Sparse {
				m := s.mechanism
				s.mechanism = s.calibrated(6, 1, true) // which the check believes, and the noise is the other's
				return m
			}},
		{"monotone where people are replaced", worlds[3], api.SparseQuestion{Above: 4, Sensitivity: 1}, "one person is worth",
			func(s *Session) *mech.Sparse {
				m := s.calibrated(1, 4, true)
				s.session = s.c.Releaser.OpenSparse(m)
				return m
			}},
		{"monotone where sums have both signs", worlds[0], api.SparseQuestion{Above: 4, Sensitivity: 110}, "one person is worth",
			func(s *Session) *mech.Sparse {
				s.monotone = false // so that no question is refused for its sign
				return s.mechanism
			}},
	} {
		p := newPair(t, c.world.dataset, c.world.x, c.world.y)
		if strings.Contains(c.name, "signs") { // somebody who is above average in one sum, and below in the other
			p = newPair(t, c.world.dataset, unlike(), unlike().Without(hospital.Target))
		}
		c.q.Analyst = "ana"
		var used *mech.Sparse
		a, _ := p.a.replay(c.q, func(s *Session) { used = c.plant(s) })
		b, _ := p.b.replay(c.q, func(s *Session) { c.plant(s) })
		if err := judgeSparse(a, b, used, c.q.Above); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// calibrated is a mechanism of the session's price.
func (s *Session) calibrated(sensitivity int64, above int, monotone bool) *mech.Sparse {
	m, err := mech.NewSparse(mech.SparseConfig{Sensitivity: dp.NewL1(big.NewInt(sensitivity)), Above: above,
		Epsilon: s.mechanism.Cost().Epsilon, Monotone: monotone})
	if err != nil {
		panic(err)
	}
	return m
}

// transcripts runs a session many times on the exact values of some questions, with its own noise
// each time.
func transcripts(t *testing.T, m *mech.Sparse, values []mech.Exact, thresholds []int64, n int, seed byte) stat.Samples {
	t.Helper()
	s, err := stat.Draw(t.Context(), n, func(part int) *noises.Source {
		return seededSource(seed, byte(part), byte(part>>8))
	}, func(src *noises.Source) func() int64 {
		r := mech.NewReleaser(src)
		return func() int64 {
			session, said := r.OpenSparse(m), int64(1)
			for i, v := range values {
				a, err := session.Ask(v, thresholds[i])
				if err != nil {
					break
				}
				if said *= 2; a.Above {
					said++
				}
			}
			return said
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSparseLowerBound bounds the privacy loss of a session from below, with the exact values that
// the engine has on neighbours and the noise that the curator calibrates. It must not exceed what
// was charged; where the sensitivity is taken for 1 it does.
func TestSparseLowerBound(t *testing.T) {
	h := restless(120, 1)
	p := newPair(t, hospital.Dataset("hospital", "data", plenty), h, h.Without(hospital.Target))
	q := api.SparseQuestion{Analyst: "ana", Above: 1, Sensitivity: 6, Epsilon: dp.One}
	asks := []string{"SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits WHERE cost >= 0",
		"SELECT COUNT(*) FROM visits WHERE ward IS NOT NULL"}
	exactly := func(w *world) (out []mech.Exact) {
		for _, text := range asks {
			q, err := planner.Prepare(w.Dataset, text, planner.Options{})
			w.check(err)
			r, err := w.engine.Run(ctx, &q.Plans[0].Query)
			w.check(err)
			out = append(out, r.Measures[0])
		}
		return out
	}
	x, y := exactly(p.a), exactly(p.b)
	var thresholds []int64
	for i := range y {
		thresholds = append(thresholds, y[i].Open()[0]+3)
		if x[i].Open()[0]-y[i].Open()[0] != 6 {
			t.Fatalf("question %d does not move as far as it can", i)
		}
	}
	n := 200_000
	if testing.Short() {
		n = 50_000
	}
	bound := func(sensitivity int64) float64 {
		q.Sensitivity = sensitivity
		m, _, err := p.a.calibrate(q, big.NewRat(1, 1))
		p.a.check(err)
		return stat.Epsilon(transcripts(t, m, x, thresholds, n, 1), transcripts(t, m, y, thresholds, n, 2), false, 0, 1e-6).Lower
	}
	honest, planted := bound(6), bound(1)
	t.Logf("at least %.3f of 1; with a sensitivity of 1 at least %.3f", honest, planted)
	if honest > 1 {
		t.Errorf("a session that was charged at epsilon 1 has lost %v", honest)
	}
	if honest < 0.2 {
		t.Errorf("only %v was found of a session at epsilon 1: the attack is too weak to mean anything", honest)
	}
	if planted <= 1 {
		t.Errorf("a session for questions that move by 1, asked one that moves by 6, was not noticed: %v", planted)
	}
}
