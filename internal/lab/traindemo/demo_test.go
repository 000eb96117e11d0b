package traindemo

import (
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
)

var adultFiles = flag.String("adult", "", "files of the Adult data set, with commas between; runs TestAdultBars, which takes minutes")

func amounts(t testing.TB, texts ...string) (out []dp.Amount) {
	t.Helper()
	for _, text := range texts {
		a := must(dp.Parse(text))
		out = append(out, a)
	}
	return out
}

func town(rows int) *Data { return must(MakeTown(rows, 1)) }

func TestMade(t *testing.T) {
	d := town(5000)
	if err := d.Encoding.Validate(); err != nil {
		t.Fatal(err)
	}
	much := 0
	for _, row := range d.Rows {
		for i, c := range d.Encoding.Features {
			if c.Categorical() && (row[i] < 0 || row[i] >= int64(len(c.Values))) || !c.Categorical() && (row[i] < c.Lo || row[i] > c.Hi) {
				t.Fatalf("%s is %d", c.Name, row[i])
			}
		}
		much += int(row[len(row)-1])
	}
	if much < 1250 || much > 2250 {
		t.Errorf("%d of 5000 earn much", much)
	}
	if again := town(5000); !slices.EqualFunc(d.Rows, again.Rows, slices.Equal[[]int64]) {
		t.Error("the same seed made other rows")
	}
	for _, n := range []int{0, -1, 99, 3_000_000} {
		if _, err := MakeTown(n, 1); !errors.Is(err, ErrDemo) {
			t.Errorf("%d rows: %v", n, err)
		}
	}
}

func TestSplit(t *testing.T) {
	d := town(1000)
	train, test := d.Split(1)
	if len(train.Rows) != 800 || len(test.Rows) != 200 {
		t.Fatalf("%d and %d rows", len(train.Rows), len(test.Rows))
	}
	seen := map[*int64]bool{}
	for _, row := range append(slices.Clone(train.Rows), test.Rows...) {
		seen[&row[0]] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d different rows of 1000", len(seen))
	}
	if other, _ := d.Split(2); slices.EqualFunc(train.Rows, other.Rows, slices.Equal[[]int64]) {
		t.Error("another seed splits alike")
	}
}

// The demonstration encodes rows by itself. It has to come to the same conclusions as the model
// that it judges.
func TestJudgesLikeTheModel(t *testing.T) {
	d := town(600)
	for _, radius := range []float64{1, 2.5} {
		p := must(learn.Prepare(d.Encoding, learn.Spec{Budget: learn.Budget{Epsilon: dp.One}, Radius: radius}, learn.Group{MaxRows: 1}))
		m := must(learn.Fit(context.Background(), p, d.table(p), mech.NewReleaser(detrand.Noise("judge", 1)), nil))
		wrong := 0
		for _, row := range d.Rows {
			cells := map[string]string{}
			for i, c := range d.Encoding.Features {
				cells[c.Name] = strconv.FormatInt(row[i], 10)
				if c.Categorical() {
					cells[c.Name] = c.Values[row[i]]
				}
			}
			said := must(m.Predict(cells))
			if said.Class != d.Encoding.Target.Values[row[len(row)-1]] {
				wrong++
			}
		}
		if got := d.encode(radius).errorShare(modelWeights(m)); got != float64(wrong)/600 {
			t.Errorf("radius %v: judged %v wrong; the model itself %v", radius, got, float64(wrong)/600)
		}
	}
}

// More budget makes better models, all of them better than a constant, and the theorems keep what
// they promise.
func TestSweep(t *testing.T) {
	d := town(6000)
	s := Sweep{Epsilons: amounts(t, "0.3", "3"), Ways: Ways, Splits: 1, Draws: 2, Seed: 1}
	steps := 0
	r, err := s.Run(context.Background(), d, func(done, of int) {
		if steps++; done != steps || of != 1+len(Ways)*2*2 {
			t.Fatalf("%d of %d is told as %d of %d", steps, 1+len(Ways)*2*2, done, of)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows != 6000 || r.Training != 4800 || r.Weights != 37 || r.Delta != deltaForRows(4800) || len(r.Cells) != 12 {
		t.Errorf("got %+v", r)
	}
	for _, w := range Ways {
		low, _ := r.At(w.Name, s.Epsilons[0])
		high, ok := r.At(w.Name, s.Epsilons[1])
		if !ok || high.Trainings != 2 || high.Error > low.Error+0.02 || high.Error < r.Plain-0.02 || high.Error > r.Constant-0.05 {
			t.Errorf("%s: %+v, %+v; %.3f without privacy", w.Name, low, high, r.Plain)
		}
	}
	again, err := s.Run(context.Background(), d, nil)
	if err != nil || !slices.Equal(again.Cells, r.Cells) {
		t.Errorf("the same seed gave %v: %v", again.Cells, err)
	}
	promises := must(s.Promises(context.Background(), d, nil))
	for _, p := range promises {
		if p.Broken > 0 || !(p.Observed >= 0) || p.Observed > p.Largest || p.Largest > p.Promised {
			t.Errorf("%+v", p)
		}
	}
}

func TestSweepRefuses(t *testing.T) {
	d := town(1000)
	ok := Sweep{Epsilons: amounts(t, "1"), Ways: Ways, Splits: 1, Draws: 1}
	for name, change := range map[string]func(*Sweep){
		"no epsilon": func(s *Sweep) { s.Epsilons = nil },
		"no way":     func(s *Sweep) { s.Ways = nil },
		"no split":   func(s *Sweep) { s.Splits = 0 },
		"no draw":    func(s *Sweep) { s.Draws = -1 },
		"too many":   func(s *Sweep) { s.Draws = 1 << 40 },
		"bad radius": func(s *Sweep) { s.Radius = -1 },
		"too little": func(s *Sweep) { s.Regulariser = 1e-9 },
		"epsilon 0":  func(s *Sweep) { s.Epsilons = []dp.Amount{0} },
		"bad method": func(s *Sweep) { s.Ways = []Way{{"x", "x", "epsilon"}} },
	} {
		s := ok
		change(&s)
		if _, err := s.Run(context.Background(), d, nil); !errors.Is(err, ErrDemo) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Promises(context.Background(), d, nil); !errors.Is(err, ErrDemo) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := ok.Run(ctx, d, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

const twoAdults = "|1x3 Cross validator\n\n39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, " +
	"2174, 0, 40, United-States, <=50K\n" +
	"25, ?, 226802, 11th, 7, Never-married, ?, Own-child, Black, Male, 0, 0, 40, United-States, <=50K.\n" +
	"150, Private, 9999999, HS-grad, 9, Divorced, Sales, Unmarried, Black, Female, 0, 0, 50, Holand-Netherlands, >50K.\n"

func TestReadAdult(t *testing.T) {
	dir := t.TempDir()
	plain, zipped := filepath.Join(dir, "adult.data"), filepath.Join(dir, "adult.gz")
	if err := os.WriteFile(plain, []byte(twoAdults), 0o600); err != nil {
		t.Fatal(err)
	}
	f := must(os.Create(zipped))
	z := gzip.NewWriter(f)
	fmt.Fprint(z, twoAdults)
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	d := must(ReadAdult(plain, zipped))
	if err := d.Encoding.Validate(); err != nil || d.Weights() != 105 || len(d.Rows) != 4 {
		t.Fatalf("%d weights, %d rows: %v", d.Weights(), len(d.Rows), err)
	}
	if !slices.Equal(d.Rows[1], []int64{100, 0, 1_500_000, 3, 9, 1, 3, 5, 4, 0, 0, 0, 50, 40, 1}) || !slices.Equal(d.Rows[0], d.Rows[2]) {
		t.Errorf("got %v", d.Rows)
	}
	for text, want := range map[string]string{
		"a,b": "line 1 of",
		strings.Replace(twoAdults, "39,", "old,", 1):    `"old" is not a whole number for age`,
		strings.Replace(twoAdults, "White", "Green", 1): `"Green" is not one of the values of race`,
		"":               "no complete row",
		"\x1f\x8bbroken": "adult.data",
	} {
		if err := os.WriteFile(plain, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadAdult(plain); !errors.Is(err, ErrDemo) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if _, err := ReadAdult(filepath.Join(dir, "none")); !errors.Is(err, ErrDemo) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestAdultBars measures on the Adult data set, with the methods' own regularisers, and holds what
// was reached.
func TestAdultBars(t *testing.T) {
	if *adultFiles == "" {
		t.Skip("give -adult FILE,FILE to measure on the Adult data set")
	}
	d := must(ReadAdult(strings.Split(*adultFiles, ",")...))
	if len(d.Rows) != 45222 || d.Weights() != 105 {
		t.Fatalf("%d rows, %d weights", len(d.Rows), d.Weights())
	}
	epsilons := amounts(t, "0.1", "0.5", "1")
	r := must(Sweep{Epsilons: epsilons, Ways: Ways, Splits: 5, Draws: 1, Neighbours: dp.Substitute,
		Seed: 1}.Run(context.Background(), d, nil))
	t.Logf("without privacy %.4f", r.Plain)
	if r.Plain > 0.154 {
		t.Errorf("without privacy %.4f", r.Plain)
	}
	for _, c := range r.Cells {
		t.Logf("%s %v: %.4f ± %.4f", c.Way, c.Epsilon, c.Error, c.Deviation)
	}
	for way, bars := range map[string][3]float64{
		"objective": {0.238, 0.185, 0.173}, "minima, delta": {0.215, 0.179, 0.171}, "output": {0.244, 0.211, 0.198},
	} {
		for i, bar := range bars {
			if c, _ := r.At(way, epsilons[i]); c.Error > bar {
				t.Errorf("%s at %v: %.4f, above %v", way, epsilons[i], c.Error, bar)
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
