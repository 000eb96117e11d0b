package contribution

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

func person(n int64) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(n)^1<<63))
}

func counting(groups, most int) Spec {
	return Spec{Groups: groups, MaxGroups: most, Measures: []Measure{
		{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(1 << 40)},
		{Kind: Sum, Lo: big.NewInt(-1 << 62), Hi: big.NewInt(1 << 62), Reach: 100},
		{Kind: People},
	}}
}

// TestCollision has people whose texts have one hash, which anybody can make who knows the salt.
// They stay two people: taken for one they would share the groups that one person may be in.
func TestCollision(t *testing.T) {
	s := counting(8, 1)
	l, err := newLayout(s)
	if err != nil {
		t.Fatal(err)
	}
	state := func(first uint64) uint64 { return fold(l.s0^16^first, 0x9e3779b97f4a7c15^l.s1|1) }
	text := func(first, second uint64) string {
		return string(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, first), second))
	}
	one, other := text(1, 2), text(3, state(1)^2^state(3))
	if one == other || l.seedText([]byte(one)) != l.seedText([]byte(other)) {
		t.Fatal("this is no collision")
	}
	var rows []row
	for g := range int32(8) {
		rows = append(rows, row{one, g, []int64{0, 5, 0}}, row{other, g, []int64{0, 7, 0}})
	}
	for _, ordered := range []bool{false, true} {
		if ordered {
			slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.person, b.person) })
		}
		got, err := Run(context.Background(), s, source(s, rows, true, 100, 1))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(naive(s, rows, true)) {
			t.Fatal(got, err)
		}
		people := int64(0)
		for _, n := range got[2] {
			people += n
		}
		if people != 2 {
			t.Errorf("%d people, and there are 2", people)
		}
	}
}

// TestOneHeavyPerson has more rows of one person than are sorted at once, and more than fit into
// memory: no partition can be divided further.
func TestOneHeavyPerson(t *testing.T) {
	s := counting(50, 3)
	var rows []row
	for i := range 400_000 {
		rows = append(rows, row{person(7), int32(i % 50), []int64{0, int64(i%201 - 100), 0}})
	}
	rows = append(rows, row{person(8), 4, []int64{0, 1, 0}})
	want := fmt.Sprint(naive(s, rows, false))
	for _, memory := range daily.Sample(t, []int64{0, 1 << 20}, 1) {
		s.Memory, s.Unordered = memory, true
		batches := source(s, rows, false, 2048, 2)
		got, err := Run(context.Background(), s, func(take func(*Batch) error) error {
			for range 5 { // each row five times
				if err := batches(take); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for m := range got[:2] {
			for g := range got[m] {
				got[m][g] /= 5
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("with %d bytes:\n%v\n%s", memory, got, want)
		}
	}
}

// TestCompaction has more rows than fit, of people with many rows in few groups each: what is kept
// of them fits.
func TestCompaction(t *testing.T) {
	s := counting(200, 4)
	s.Measures[1].Reach = 1 << 40
	s.Memory = 6 << 20
	var rows []row
	for i := range 600_000 {
		n := mix(uint64(i))
		rows = append(rows, row{person(int64(n % 2000)), int32(n >> 20 % 200), []int64{0, int64(n>>30%(1<<41)) - 1<<40, 0}})
	}
	want := fmt.Sprint(naive(s, rows, false))
	passes := 0
	from := source(s, rows, false, 2048, 3)
	got, err := Run(context.Background(), s, func(take func(*Batch) error) error { passes++; return from(take) })
	if err != nil || fmt.Sprint(got) != want {
		t.Fatal("wrong", err)
	}
	if passes > 3 {
		t.Errorf("%d passes: compacting was of no use", passes)
	}
}

// TestStretchesThatOverlap has batches that ascend, each for itself, with the same people in the
// middle: they must not count twice.
func TestStretchesThatOverlap(t *testing.T) {
	s := counting(9, 2)
	var rows []row
	for batch := range 3 {
		for p := range int64(50) {
			rows = append(rows, row{person(p), int32(int(p)+batch) % 9, []int64{0, 1, 0}})
		}
	}
	passes := 0
	from := source(s, rows, false, 50, 1)
	got, err := Run(context.Background(), s, func(take func(*Batch) error) error { passes++; return from(take) })
	if err != nil || fmt.Sprint(got) != fmt.Sprint(naive(s, rows, false)) {
		t.Error(got, err)
	}
	if passes != 2 {
		t.Errorf("%d passes, and the order cannot be known to be wrong before the end of the first", passes)
	}
	// A person across batches of an order that is one.
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.person, b.person) })
	passes = 0
	from = source(s, rows, false, 4, 3)
	got, err = Run(context.Background(), s, func(take func(*Batch) error) error { passes++; return from(take) })
	if err != nil || passes != 1 || fmt.Sprint(got) != fmt.Sprint(naive(s, rows, false)) {
		t.Error(got, passes, err)
	}
}

// TestTotalsBeyond62Bits clamps totals and not partials.
func TestTotalsBeyond62Bits(t *testing.T) {
	s := Spec{Groups: 2, MaxGroups: 2, Measures: []Measure{{Kind: Sum, Reach: 1 << 53, Lo: clipped(-1, 73), Hi: clipped(1, 73)}}}
	var rows []row
	for i := range 3000 {
		rows = append(rows, row{person(int64(i % 2)), int32(i % 2), []int64{(1 << 53) * int64(1-i%2*2)}})
	}
	got, err := Run(context.Background(), s, source(s, rows, false, 100, 2))
	if err != nil || fmt.Sprint(got) != fmt.Sprintf("[[%d %d]]", int64(Limit), int64(-Limit)) {
		t.Error(got, err)
	}
}

func clipped(sign int64, bits uint) *big.Int { return new(big.Int).Lsh(big.NewInt(sign), bits) }

// TestErrors: what cannot be is an error and no panic, and a source's error comes back.
func TestErrors(t *testing.T) {
	good := counting(3, 2)
	run := func(s Spec, b *Batch) error {
		_, err := Run(context.Background(), s, func(take func(*Batch) error) error { return take(b) })
		return err
	}
	for name, b := range map[string]*Batch{
		"a group too high":  {Ints: []int64{1}, Groups: []int32{3}, Values: [][]int64{nil, {1}, nil}},
		"no value":          {Ints: []int64{1}, Groups: []int32{0}, Values: [][]int64{nil, nil, nil}},
		"values of a count": {Ints: []int64{1}, Groups: []int32{0}, Values: [][]int64{{1}, {1}, nil}},
		"nobody":            {Groups: []int32{0}, Values: [][]int64{nil, {1}, nil}},
		"a column missing":  {Ints: []int64{1}, Groups: []int32{0}, Values: [][]int64{nil, {1}}},
	} {
		if err := run(good, b); !errors.Is(err, errBatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, spoil := range map[string]func(*Spec){
		"no groups":      func(s *Spec) { s.Groups = 0 },
		"none kept":      func(s *Spec) { s.MaxGroups = 0 },
		"no measures":    func(s *Spec) { s.Measures = nil },
		"no bounds":      func(s *Spec) { s.Measures[0].Lo = nil },
		"bounds above 0": func(s *Spec) { s.Measures[0].Lo = big.NewInt(1) },
	} {
		s := counting(3, 2)
		spoil(&s)
		if err := run(s, &Batch{}); !errors.Is(err, errSpec) {
			t.Errorf("%s: %v", name, err)
		}
	}
	mine := errors.New("mine")
	for _, good.Unordered = range []bool{false, true} {
		if _, err := Run(context.Background(), good, func(func(*Batch) error) error { return mine }); !errors.Is(err, mine) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := Run(ctx, good, source(good, []row{{person(1), 0, []int64{0, 1, 0}}}, false, 1, 1)); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// TestChoiceIsFair: over many people every group is kept about as often as another, people do not
// all keep the same ones, and another salt keeps others. Otherwise some groups' totals would be too
// small in every answer.
func TestChoiceIsFair(t *testing.T) {
	const groups, most, people = 20, 5, 20_000
	s := Spec{Groups: groups, MaxGroups: most, Measures: []Measure{{Kind: People}}}
	var rows []row
	for p := range int64(people) {
		for g := range int32(groups) {
			rows = append(rows, row{person(p), g, []int64{0}})
		}
	}
	for _, salt := range []byte{1, 2} {
		s.Salt[20] = salt
		got, err := Run(context.Background(), s, source(s, rows, false, 2000, 2))
		if err != nil {
			t.Fatal(err)
		}
		// Each is binomial around 5000 with a deviation of 61: nine of them, so that it never fails
		// by chance.
		for g, n := range got[0] {
			if n < 5000-550 || n > 5000+550 {
				t.Errorf("salt %d: group %d was kept by %d of %d", salt, g, n, people)
			}
		}
	}
	a, _ := newLayout(s)
	s.Salt[20] = 7
	b, _ := newLayout(s)
	same := 0
	for p := range int64(1000) {
		x, y := a.seedInt(p), b.seedInt(p)
		if (a.order(x, 1) < a.order(x, 2)) == (b.order(y, 1) < b.order(y, 2)) {
			same++
		}
	}
	if same < 350 || same > 650 {
		t.Errorf("two salts agree about %d of 1000 people", same)
	}
}

// TestPasses has more people than fit, in every form that a row can have: each is counted in one
// pass.
func TestPasses(t *testing.T) {
	wide := Measure{Kind: Sum, Lo: clipped(-1, 50), Hi: clipped(1, 50), Reach: 1 << 45}
	slim := Measure{Kind: Sum, Lo: big.NewInt(-50), Hi: big.NewInt(50), Reach: 100}
	for _, text := range []bool{false, true} {
		for _, measures := range daily.Sample(t, [][]Measure{{slim}, {slim, wide, {Kind: People}}, {wide}}, 1) {
			s := Spec{Groups: 30, MaxGroups: 4, Measures: measures, Memory: 1 << 18}
			var rows []row
			for i := range 30_000 {
				n := mix(uint64(i))
				rows = append(rows,
					row{person(int64(n % 9000)), int32(n >> 20 % 30), []int64{int64(n>>40%201) - 100, int64(n>>32%(1<<20)) << 20, 0}})
			}
			passes := 0
			from := source(s, rows, text, 500, 2)
			got, err := Run(context.Background(), s, func(take func(*Batch) error) error { passes++; return from(take) })
			if err != nil || fmt.Sprint(got) != fmt.Sprint(naive(s, rows, text)) {
				t.Errorf("text %v, %d measures: wrong after %d passes, %v", text, len(measures), passes, err)
			}
			if passes < 4 { // one of them to see that there is no order
				t.Errorf("text %v, %d measures: %d passes are too few for a test", text, len(measures), passes)
			}
		}
	}
}

// manyRows are people with 1 to 200 rows each, most of them with few, and some of one group.
func manyRows(groups int) (rows []row) {
	for p := range 900 {
		h := mix(uint64(p))
		n := 1 + int(h%17)
		if p%40 == 0 {
			n = int(h % 201) // up to 200, with those around where the way changes
		}
		some := []uint64{uint64(groups), uint64(groups), 5, 9}[h>>20%4]
		for i := range n {
			x := mix(h + uint64(i))
			rows = append(rows, row{person(int64(h>>8) - 1<<54), int32(x % some), []int64{0, int64(x>>40%2001) - 1000, 0}})
		}
	}
	return rows
}

var slimMeasures = []Measure{{Kind: Rows, Lo: new(big.Int), Hi: big.NewInt(2)}, {Kind: Sum, Lo: big.NewInt(-900), Hi: big.NewInt(1500),
	Reach: 1000}, {Kind: People}}

// scaledMeasures are slim too, with a sum that is scaled.
var scaledMeasures = []Measure{slimMeasures[0], {Kind: Sum, Lo: big.NewInt(-900), Hi: big.NewInt(1500), Reach: 1000, Scale: 2}}

// TestNamed has people with numbers, whose groups follow from their names: somebody who comes
// before all others changes every number and what nobody else keeps.
func TestNamed(t *testing.T) {
	for _, most := range []int{1, 5, 9} {
		for _, measures := range [][]Measure{slimMeasures, scaledMeasures, append(slices.Clone(slimMeasures), slimMeasures[1])} {
			s := Spec{Groups: 200, MaxGroups: most, Measures: measures}
			rows := manyRows(s.Groups)
			for i := range rows {
				rows[i].values = append(rows[i].values, rows[i].values[1])[:len(measures)]
			}
			slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.person, b.person) })
			var people []string
			for _, r := range rows {
				if len(people) == 0 || people[len(people)-1] != r.person {
					people = append(people, r.person)
				}
			}
			numbered := slices.Clone(rows)
			for i := range numbered {
				at, _ := slices.BinarySearch(people, numbered[i].person)
				numbered[i].person = person(int64(at))
			}
			want := fmt.Sprint(naive(s, rows, true))
			s.Names = func(n int64) []byte { return []byte(people[n]) }
			got, err := Run(context.Background(), s, source(s, numbered, false, 2048, 2))
			if err != nil || fmt.Sprint(got) != want {
				t.Errorf("%d groups, %d measures: not the definition (%v)", most, len(measures), err)
			}
		}
	}
}
