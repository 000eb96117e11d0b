package learn

import (
	"fmt"
	"sort"
	"testing"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// placed are rows with their parts, in no order.
func placed(rows [][]int64) map[string]int {
	s, out := newSplitter(4), map[string]int{}
	for _, r := range rows {
		out[fmt.Sprint(r, s.part(r))]++
	}
	return out
}

// TestSplit: the order of rows does not matter, and a row more changes nothing else.
func TestSplit(t *testing.T) {
	dice := detrand.New("split", 1)
	var rows [][]int64
	for range 4000 {
		rows = append(rows, []int64{int64(dice.Below(3)), int64(dice.Below(2))})
	}
	before := placed(rows)
	sort.Slice(rows, func(i, j int) bool { return fmt.Sprint(rows[i]) < fmt.Sprint(rows[j]) })
	if after := placed(rows); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the order of rows matters")
	}
	changed := 0
	more := append([][]int64{{1, 1}}, rows...)
	for key, n := range placed(more) {
		if d := n - before[key]; d != 0 {
			changed += d
		}
	}
	if changed != 1 {
		t.Errorf("one row more changes %d", changed)
	}
	if len(before) != 24 {
		t.Errorf("equal rows are in one part: %v", before)
	}
	for key, n := range before {
		if n < 100 || n > 240 {
			t.Errorf("%s: %d rows of about 167", key, n)
		}
	}
}
