package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/policy"
)

// sealMembers seals who is in which keys, of which there are those that somebody has.
func sealMembers(people [][]string) (sealed.Members, []string) {
	var names []string
	for _, own := range people {
		names = append(names, own...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	keys := make([][]policy.Value, len(names))
	for i, n := range names {
		keys[i] = []policy.Value{{Type: policy.Text, Text: n}}
	}
	var places []int32
	var ends []int
	for _, own := range people {
		for _, n := range own {
			at, _ := slices.BinarySearch(names, n)
			places = append(places, int32(at))
		}
		ends = append(ends, len(places))
	}
	return SealMembers(&tree.Query{Dataset: "d", From: &tree.Scan{Table: &policy.Table{Name: "t"}}}, keys, places, ends), names
}

// Whoever comes or goes, in whatever order rows are read, all others stand as they did, also where
// a key comes or goes with them.
func TestMembersStandStill(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		person := func() (own []string) {
			for _, k := range rng.Perm(8)[:1+rng.IntN(3)] {
				own = append(own, fmt.Sprint("key", k))
			}
			return own
		}
		people := make([][]string, rng.IntN(12))
		for i := range people {
			people[i] = person()
		}
		more := append(slices.Clone(people), append(person(), "theirs alone"))
		rng.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
		for i := range more {
			more[i] = slices.Clone(more[i])
			rng.Shuffle(len(more[i]), func(a, b int) { more[i][a], more[i][b] = more[i][b], more[i][a] })
		}
		a, namesA := sealMembers(people)
		b, namesB := sealMembers(more)
		if went, came, _, ok := sealed.CompareMembers(a, b, namesA, namesB); !ok || went != 0 || came != 1 {
			t.Fatalf("%v with one more: %d went and %d came, %v", people, went, came, ok)
		}
		last := 0
		b.Each(func(own []int32) {
			if len(own) < last {
				t.Fatal("those with few keys do not come first")
			}
			last = len(own)
		})
	}
}

// How many keys there are is private, and how long a question is its analyst chooses: what a key
// takes has nothing to do with that, or a clock would tell how many keys a person has.
func TestMembersOfALongQuestion(t *testing.T) {
	spelt := func(words, n int) float64 {
		in := &tree.In{X: expr.NewText("x")}
		for i := range words {
			in.List = append(in.List, expr.NewText(fmt.Sprint(i)))
		}
		q := &tree.Query{Dataset: "d", From: &tree.Scan{Table: &policy.Table{Name: "t"}}, Where: in}
		return testing.AllocsPerRun(3, func() {
			keys, places, ends := make([][]policy.Value, n), make([]int32, n), make([]int, n)
			for i := range n {
				keys[i], places[i], ends[i] = []policy.Value{{Type: policy.Text, Text: "k"}}, int32(i), i+1
			}
			SealMembers(q, keys, places, ends)
		})
	}
	short, long := spelt(2, 200)-spelt(2, 100), spelt(2000, 200)-spelt(2000, 100)
	if long > short+200 {
		t.Errorf("a hundred keys more take %v allocations in a short question, and %v in a long one", short, long)
	}
}
