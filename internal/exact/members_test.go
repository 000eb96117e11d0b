package exact

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func membersOf(units ...[]int32) Members {
	var groups []int32
	var ends []int
	for _, u := range units {
		groups = append(groups, u...)
		ends = append(ends, len(groups))
	}
	return SealMembers(groups, ends)
}

func TestMembersDoNotShow(t *testing.T) {
	m := membersOf([]int32{secret}, []int32{1, 2})
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x", "%q"} {
		for _, x := range []any{m, struct{ m Members }{m}, []Members{m}} {
			if got := fmt.Sprintf(verb, x); strings.Contains(got, fmt.Sprint(secret)) {
				t.Errorf("%s shows %q", verb, got)
			}
		}
		if got := fmt.Sprintf(verb, m); got != "[exact]" {
			t.Errorf("%s shows %q", verb, got)
		}
	}
	if text, err := json.Marshal(m); err == nil {
		t.Errorf("JSON is %s", text)
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(m); err == nil {
		t.Error("gob encodes it")
	}
	n := 0
	m.Each(func(groups []int32) { n += len(groups) })
	Members{}.Each(func([]int32) { n++ })
	if n != 3 {
		t.Errorf("%d groups", n)
	}
}

func TestParted(t *testing.T) {
	ab, ba := []string{"a", "b", "c"}, []string{"b", "a", "c"} // the same by other numbers
	for _, c := range []struct {
		x, y   Members
		names  []string
		parted string
	}{
		{membersOf(), membersOf(), ab, "0 0 0 true"},
		{membersOf([]int32{0}, []int32{0, 1}), membersOf([]int32{1}, []int32{0, 1}), ba, "0 0 2 true"},
		{membersOf([]int32{0}, []int32{1}), membersOf([]int32{0}, []int32{2}, []int32{1}), ab, "0 1 1 true"},
		{membersOf([]int32{0}, []int32{2}, []int32{1}), membersOf([]int32{0}, []int32{1}), ab, "1 0 1 true"},
		{membersOf([]int32{0}, []int32{1}, []int32{2}), membersOf([]int32{1}, []int32{2}, []int32{1, 2}), ab, "1 1 2 true"},
		{membersOf([]int32{0}, []int32{1}), membersOf([]int32{0}, []int32{0, 1}), ab, "1 1 2 true"},
		// An order that changed, and somebody who became two.
		{membersOf([]int32{0}, []int32{1}, []int32{2}), membersOf([]int32{2}, []int32{1}, []int32{0}), ab, "1 1 1 false"},
		{membersOf([]int32{2}), membersOf([]int32{2}, []int32{0}, []int32{1}), ab, "0 0 1 false"},
	} {
		went, came, most, ok := Parted(c.x, c.y, ab, c.names)
		if got := fmt.Sprint(went, came, most, ok); got != c.parted {
			t.Errorf("%s; want %s", got, c.parted)
		}
	}
}
