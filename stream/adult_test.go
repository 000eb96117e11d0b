package stream

import (
	"bufio"
	"compress/gzip"
	"context"
	"flag"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/stream/histogram"
	"github.com/discreet-dp/discreet/internal/stream/linear"
	"github.com/discreet-dp/discreet/mech"
)

var (
	adultFiles = flag.String("adult", "", "files of the Adult data set, with commas between; runs TestAdult, which is long")
	adultSeed  = flag.Uint64("adult-seed", 1, "of TestAdult")
	adultAsked = flag.Int("adult-queries", 400_000, "of TestAdult")
	adultKind  = flag.String("adult-predictor", "", "of TestAdult")
)

// adult reads the Adult data set (Becker, Kohavi 1996): age in 10 ranges, education 16, marital
// status 7, race 5, sex 2, hours a week in 10 ranges, income 2: 224,000 cells.
func adult(t testing.TB, files string) (*linear.Domain, *histogram.Table, int64) {
	t.Helper()
	names := []string{"age", "education", "marital", "race", "sex", "hours", "income"}
	sizes := []int{10, 16, 7, 5, 2, 10, 2}
	ages, hours := []int{20, 25, 30, 35, 40, 45, 50, 55, 65}, []int{10, 20, 30, 35, 40, 41, 46, 51, 61}
	bin := func(edges []int, text string) string {
		x, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := slices.BinarySearch(edges, x+1)
		return strconv.Itoa(n)
	}
	var rows [][]string
	for _, name := range strings.Split(files, ",") {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var r io.Reader = f
		if strings.HasSuffix(name, ".gz") {
			if r, err = gzip.NewReader(f); err != nil {
				t.Fatal(err)
			}
		}
		for lines := bufio.NewScanner(r); lines.Scan(); {
			x := strings.Split(lines.Text(), ", ")
			if len(x) != 15 {
				continue
			}
			rows = append(rows, []string{bin(ages, x[0]), x[3], x[5], x[8], x[9], bin(hours, x[12]), strings.TrimSuffix(x[14], ".")})
		}
		f.Close()
	}
	values := make([][]string, len(names))
	for _, row := range rows {
		for i, v := range row {
			if !slices.Contains(values[i], v) {
				values[i] = append(values[i], v)
			}
		}
	}
	var as []linear.Attribute
	for i, v := range values {
		slices.Sort(v)
		if len(v) != sizes[i] {
			t.Fatalf("%s has %d values, not %d: %v", names[i], len(v), sizes[i], v)
		}
		as = append(as, linear.Attribute{Name: names[i], Values: v})
	}
	d, err := linear.NewDomain(as...)
	if err != nil {
		t.Fatal(err)
	}
	var cells, counts []int64
	for _, row := range rows {
		codes := make([]int, len(row))
		for i, v := range row {
			codes[i] = slices.Index(values[i], v)
		}
		cells, counts = append(cells, int64(d.Cell(codes...))), append(counts, 1)
	}
	h, err := histogram.Sparse(d, exact.Seal(cells), exact.Seal(counts))
	if err != nil {
		t.Fatal(err)
	}
	return d, h, int64(len(rows))
}

// conjunction draws 1 to most attributes, and for each a value, or any set of values.
func conjunction(t testing.TB, dice detrand.Dice, d *linear.Domain, most int, sets bool) *linear.Query {
	as := d.Attributes()
	var chosen []int
	for n := 1 + dice.Below(most); len(chosen) < n; {
		if a := dice.Below(len(as)); !slices.Contains(chosen, a) {
			chosen = append(chosen, a)
		}
	}
	var fs []linear.Factor
	for _, a := range chosen {
		n := len(as[a].Values)
		f := linear.Factor{Attributes: []int{a}, Weights: make([]int64, n)}
		set := uint64(1) << dice.Below(n)
		if sets {
			set = 1 + uint64(dice.Below(1<<n-1))
		}
		for v := range n {
			f.Weights[v] = int64(set >> v & 1)
		}
		fs = append(fs, f)
	}
	q, err := d.Query(1, fs...)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// The second stream of the issue: 400,000 conjunctions over the Adult data set.
func TestAdult(t *testing.T) {
	if *adultFiles == "" {
		t.Skip("needs -adult FILE,FILE")
	}
	d, data, n := adult(t, *adultFiles)
	if d.Cells() != 224_000 || n != 48_842 {
		t.Fatalf("%d cells, %d people", d.Cells(), n)
	}
	for _, sets := range []bool{false, true} {
		dice := detrand.New("adult", *adultSeed)
		c := Config{Domain: d, Size: n, Alpha: 0.05, Beta: 0.001, Queries: 400_000, Steps: 1, Currency: mech.Pure,
			Budget: amountOf(t, "6.5"), Predictor: Kind(*adultKind)}
		s, _ := open(t, c, data, *adultSeed)
		start, far, most := time.Now(), 0, int64(0)
		var took time.Duration
		for range *adultAsked {
			q := conjunction(t, dice, d, 5, sets)
			before := time.Now()
			a, err := s.Ask(context.Background(), q)
			took += time.Since(before)
			if err != nil {
				t.Fatal(err)
			}
			truth := data.Answer(q).Open()[0]
			off := max(a.Value-truth, truth-a.Value)
			most = max(most, off)
			if off > a.Error {
				far++
			}
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r := s.Report()
		t.Logf("sets %v: spent %v, the cache %v; different %d, plain %d, paid %d, marginals %d; largest error %d of %d; %v asking, %v "+
			"in all; %d MB", sets, r.Spent.Epsilon, r.Cache.Epsilon, r.Different,
			r.Plain, r.Paid, r.Marginals, most, s.Tariff().Error, took.Round(time.Second), time.Since(start).Round(time.Second), m.Sys>>20)
		if far > 0 {
			t.Errorf("%d answers are further off than promised", far)
		}
	}
}
