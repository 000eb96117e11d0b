package contribution

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// row is one row of a random table.
type row struct {
	person string // bytes; eight of them for an integer
	group  int32
	values []int64
}

// naive computes the definition, with maps and big integers.
func naive(s Spec, rows []row, text bool) [][]int64 {
	l, err := newLayout(s)
	if err != nil {
		panic(err)
	}
	people := map[string]map[int32][]*big.Int{}
	for _, r := range rows {
		if r.group < 0 {
			continue
		}
		if people[r.person] == nil {
			people[r.person] = map[int32][]*big.Int{}
		}
		sums := people[r.person][r.group]
		if sums == nil {
			sums = make([]*big.Int, len(s.Measures))
			for m := range sums {
				sums[m] = new(big.Int)
			}
			people[r.person][r.group] = sums
		}
		for m, spec := range s.Measures {
			switch spec.Kind {
			case Rows:
				sums[m].Add(sums[m], big.NewInt(1))
			case Values, Sum:
				sums[m].Add(sums[m], big.NewInt(r.values[m]))
			}
		}
	}
	totals := make([][]*big.Int, len(s.Measures))
	for m := range totals {
		totals[m] = make([]*big.Int, s.Groups)
		for g := range totals[m] {
			totals[m][g] = new(big.Int)
		}
	}
	for person, groups := range people {
		var seed uint64
		if text {
			seed = l.seedText([]byte(person))
		} else {
			seed = l.seedInt(intOf(person))
		}
		var order []int32
		for g := range groups {
			order = append(order, g)
		}
		slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(l.order(seed, a), l.order(seed, b)) })
		for _, g := range order[:min(len(order), s.MaxGroups)] {
			for m, spec := range s.Measures {
				x := groups[g][m]
				if spec.Scale > 0 {
					x = scaledExactly(x, groups[g][spec.By].Int64(), spec.Scale)
				}
				switch {
				case spec.Kind == People:
					x = big.NewInt(1)
				case x.Cmp(spec.Lo) < 0:
					x = spec.Lo
				case x.Cmp(spec.Hi) > 0:
					x = spec.Hi
				}
				totals[m][g].Add(totals[m][g], x)
			}
		}
	}
	out := make([][]int64, len(totals))
	limit := big.NewInt(Limit)
	for m := range totals {
		for _, x := range totals[m] {
			if x.CmpAbs(limit) > 0 {
				x = new(big.Int).Mul(limit, big.NewInt(int64(x.Sign())))
			}
			out[m] = append(out[m], x.Int64())
		}
	}
	return out
}

// scaledExactly is sum * most / rows, where rows are more, to the nearest integer.
func scaledExactly(sum *big.Int, rows, most int64) *big.Int {
	if rows <= most {
		return sum
	}
	exact := new(big.Rat).SetFrac(new(big.Int).Mul(sum, big.NewInt(most)), big.NewInt(rows))
	out, _ := new(big.Int).SetString(exact.FloatString(0), 10) // halves away from zero
	return out
}

// TestScale compares scaling in 64 and 128 bits with rational numbers, at the ends of both.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, most := rapid.Int64Range(0, 1<<40).Draw(t, "rows"), rapid.Int64Range(1, 1<<40).Draw(t, "most")
		if rapid.Bool().Draw(t, "few") {
			rows, most = rows%7, 1+most%7
		}
		short := rapid.Int64().Draw(t, "sum")
		if want := scaledExactly(big.NewInt(short), rows, most); want.Cmp(big.NewInt(scaled64(short, rows, most))) != 0 {
			t.Fatalf("%d of %d rows, of which %d count: %d, want %v", short, rows, most, scaled64(short, rows, most), want)
		}
		w := wide{rapid.Int64().Draw(t, "upper"), rapid.Uint64().Draw(t, "lower")}
		if rapid.Bool().Draw(t, "short") {
			w = wide{short >> 63, uint64(short)}
		}
		exact := func(w wide) *big.Int {
			return new(big.Int).Add(new(big.Int).Lsh(big.NewInt(w.hi), 64), new(big.Int).SetUint64(w.lo))
		}
		if want, got := scaledExactly(exact(w), rows, most), exact(w.scaled(rows, most)); want.Cmp(got) != 0 {
			t.Fatalf("%v of %d rows, of which %d count: %v, want %v", exact(w), rows, most, got, want)
		}
	})
}

func intOf(person string) int64 { return int64(binary.BigEndian.Uint64([]byte(person)) ^ 1<<63) }

// source feeds rows in batches, from a number of goroutines.
func source(s Spec, rows []row, text bool, size, goroutines int) BatchReader {
	return func(take func(*Batch) error) error {
		batches := make(chan []row)
		failed := make(chan error, goroutines)
		var group sync.WaitGroup
		for range goroutines {
			group.Go(func() {
				for some := range batches {
					if err := take(batchOf(s, some, text)); err != nil {
						select {
						case failed <- err:
						default:
						}
					}
				}
			})
		}
		for some := range slices.Chunk(rows, size) {
			batches <- some
		}
		close(batches)
		group.Wait()
		select {
		case err := <-failed:
			return err
		default:
			return nil
		}
	}
}

func batchOf(s Spec, rows []row, text bool) *Batch {
	b := &Batch{Values: make([][]int64, len(s.Measures))}
	if !text {
		b.Ints = []int64{}
	}
	for _, r := range rows {
		if text {
			b.Texts = append(b.Texts, []byte(r.person))
		} else {
			b.Ints = append(b.Ints, intOf(r.person))
		}
		b.Groups = append(b.Groups, r.group)
		for m, spec := range s.Measures {
			if spec.Kind.valued() {
				b.Values[m] = append(b.Values[m], r.values[m])
			}
		}
	}
	return b
}

func drawSpec(t *rapid.T) Spec {
	s := Spec{
		Groups:    rapid.SampledFrom([]int{1, 2, 7, 50, 3000}).Draw(t, "groups"),
		MaxGroups: rapid.SampledFrom([]int{1, 2, 3, 5, 16, 17, 40}).Draw(t, "max_groups"),
	}
	for i := range s.Salt {
		s.Salt[i] = rapid.Byte().Draw(t, "salt")
	}
	for range rapid.IntRange(1, 5).Draw(t, "measures") {
		m := Measure{Kind: rapid.SampledFrom([]Kind{Rows, Values, Sum, Sum, Sum, People}).Draw(t, "kind")}
		if m.Kind == Sum {
			reaches := []int64{1, 9, narrowReach, narrowReach + 1, math.MaxInt32, 1 << 31, 1 << 40, 1 << 53}
			m.Reach = rapid.SampledFrom(reaches).Draw(t, "reach")
		}
		reach := max(1, m.Reach)
		m.Lo = new(big.Int).Mul(big.NewInt(-rapid.Int64Range(0, 3).Draw(t, "lo")), big.NewInt(reach))
		m.Hi = new(big.Int).Mul(big.NewInt(rapid.Int64Range(0, 3).Draw(t, "hi")), big.NewInt(reach))
		s.Measures = append(s.Measures, m)
	}
	for i := range s.Measures {
		by := rapid.IntRange(0, len(s.Measures)-1).Draw(t, "by")
		if counts := s.Measures[by].Kind; s.Measures[i].Kind == Sum && (counts == Rows || counts == Values) {
			s.Measures[i].By, s.Measures[i].Scale = by, rapid.SampledFrom([]int64{0, 1, 2, 5}).Draw(t, "scale")
		}
	}
	return s
}

func drawRows(t *rapid.T, s Spec, text bool) []row {
	rows := make([]row, rapid.IntRange(0, 600).Draw(t, "rows"))
	people := rapid.SampledFrom([]int{1, 3, 30, 300}).Draw(t, "people")
	some := rapid.SampledFrom([]int{1, 4, 50, 3000}).Draw(t, "some groups")
	// One draw for the rest: rapid is slow with many.
	seed := rapid.Uint64().Draw(t, "seed")
	next := func(n int) int { seed = mix(seed + 1); return int(seed >> 1 % uint64(n)) }
	for i := range rows {
		p := next(people)
		r := row{group: int32(next(min(some, s.Groups)+1)) - 1}
		if text {
			r.person = fmt.Sprintf("%0*d", 1+p%23, p)
			if p%5 == 0 {
				r.person = string(make([]byte, p/5)) // texts that differ in length alone
			}
		} else {
			r.person = string(binary.BigEndian.AppendUint64(nil, uint64(int64(p-people/2)*int64(1+(seed&1)<<40))^1<<63))
		}
		for _, m := range s.Measures {
			v := int64(next(2))
			if m.Kind == Sum {
				v = []int64{-m.Reach, m.Reach, 0, 1, m.Reach / 3}[next(5)]
			}
			r.values = append(r.values, v)
		}
		rows[i] = r
	}
	if rapid.Bool().Draw(t, "in order") {
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.person, b.person) })
	}
	return rows
}

// TestDefinition compares the operator with the definition, in every order, with batches,
// goroutines and limits that force compactions and passes.
func TestDefinition(t *testing.T) {
	modes := map[string]int{}
	try := func(rt *rapid.T) {
		s := drawSpec(rt)
		text := rapid.Bool().Draw(rt, "text")
		rows := drawRows(rt, s, text)
		want := naive(s, rows, text)
		for range 3 {
			s.Unordered = rapid.Bool().Draw(rt, "unordered")
			s.Memory = rapid.SampledFrom([]int64{0, 1 << 14, 1 << 17, 1 << 20}).Draw(rt, "memory")
			size, goroutines := rapid.IntRange(1, 700).Draw(rt, "batch"), rapid.IntRange(1, 3).Draw(rt, "goroutines")
			passes := 0
			from := source(s, rows, text, size, goroutines)
			got, err := Run(context.Background(), s, func(take func(*Batch) error) error { passes++; return from(take) })
			if err != nil {
				rt.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				rt.Fatalf("got %v\nwant %v", got, want)
			}
			modes[fmt.Sprintf("unordered %v, passes %d", s.Unordered, min(passes, 3))]++
		}
	}
	rapid.Check(t, try)
	again := rapid.Custom(func(rt *rapid.T) bool { try(rt); return true })
	for _, m := range []string{"unordered true, passes 1", "unordered true, passes 3", "unordered false, passes 1",
		"unordered false, passes 2"} {
		for seed := 0; modes[m] == 0 && seed < 500; seed++ { // few draws may miss one; these are the same every day
			again.Example(seed)
		}
		if modes[m] == 0 {
			t.Errorf("never tried: %s", m)
		}
	}
	t.Log(modes)
}

// BenchmarkRun measures the operator alone, on rows that are in memory: ten a person, in no order
// and by person, of 1000 groups.
func BenchmarkRun(b *testing.B) {
	const rows, size = 1 << 23, 2048
	for _, ordered := range []bool{false, true} {
		var batches []*Batch
		for start := 0; start < rows; start += size {
			batch := &Batch{Ints: make([]int64, size), Groups: make([]int32, size), Values: [][]int64{nil, make([]int64, size)}}
			for i := range size {
				n := uint64(start + i)
				batch.Ints[i] = int64(mix(n) % (rows / 10))
				if ordered {
					batch.Ints[i] = int64(n / 10)
				}
				batch.Groups[i], batch.Values[1][i] = int32(mix(n*31)%1000), int64(mix(n+7)%100_000)
			}
			batches = append(batches, batch)
		}
		for measures := 1; measures <= 2; measures++ {
			s := Spec{Groups: 1000, MaxGroups: 5, Measures: []Measure{{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(10)},
				{Kind: Sum, Lo: new(big.Int), Hi: big.NewInt(1_000_000), Reach: 100_000}}[:measures]}
			b.Run("ordered="+strconv.FormatBool(ordered)+"/measures="+strconv.Itoa(measures), func(b *testing.B) {
				for b.Loop() {
					if _, err := Run(context.Background(), s, feed(batches, measures)); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			})
		}
	}
}

// feed hands batches over from as many goroutines as there are processors.
func feed(batches []*Batch, measures int) BatchReader {
	return func(take func(*Batch) error) error {
		var group sync.WaitGroup
		workers := runtime.GOMAXPROCS(0)
		errs := make(chan error, workers)
		for w := range workers {
			group.Go(func() {
				for i := w; i < len(batches); i += workers {
					b := *batches[i]
					b.Values = b.Values[:measures]
					if err := take(&b); err != nil {
						errs <- err
						return
					}
				}
			})
		}
		group.Wait()
		close(errs)
		return <-errs
	}
}

// BenchmarkHeavy measures what a person with a million rows changes: the same number of rows, and
// one in eight of them is that person's or somebody else's.
func BenchmarkHeavy(b *testing.B) {
	const rows, size = 1 << 23, 2048
	s := Spec{Groups: 1000, MaxGroups: 5, Unordered: true, Measures: []Measure{{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(10)},
		{Kind: Sum, Lo: new(big.Int), Hi: big.NewInt(1_000_000), Reach: 100_000}}}
	for _, heavy := range []bool{false, true} {
		b.Run("heavy="+strconv.FormatBool(heavy), func(b *testing.B) {
			var batches []*Batch
			for start := 0; start < rows; start += size {
				batch := &Batch{Ints: make([]int64, size), Groups: make([]int32, size), Values: [][]int64{nil, make([]int64, size)}}
				for i := range size {
					n := uint64(start + i)
					batch.Ints[i] = int64(mix(n) % (rows / 10))
					if heavy && n%8 == 0 {
						batch.Ints[i] = 7
					}
					batch.Groups[i], batch.Values[1][i] = int32(mix(n*31)%1000), int64(mix(n+7)%100_000)
				}
				batches = append(batches, batch)
			}
			for b.Loop() {
				if _, err := Run(context.Background(), s, feed(batches, 2)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
