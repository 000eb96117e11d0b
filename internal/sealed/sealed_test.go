package sealed

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
)

// secret is a number that no address happens to hold in its digits.
const secret = 987_654_321

func secretly() Vector { return Seal([]int64{secret, secret}) }

type holder struct {
	Public  Vector
	private Vector
	list    []Vector
	mapped  map[string]any
}

// Formatted in any way, by itself or deep inside of something, a vector does not show.
func TestVectorDoesNotShow(t *testing.T) {
	v := secretly()
	hidden := holder{v, v, []Vector{v}, map[string]any{"v": v}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x", "%X", "%q", "%o", "%b", "%c", "%U", "%e", "%g", "%t",
		"%p", "%20v", "%-5d"} {
		for _, x := range []any{v, &v, []Vector{v}, map[int]Vector{1: v}, hidden, &hidden, []any{hidden}, struct{ deeper holder }{hidden}} {
			text := fmt.Sprintf(verb, x)
			for _, spelling := range []string{"%d", "%x", "%X", "%o", "%b"} {
				if strings.Contains(text, fmt.Sprintf(spelling, secret)) {
					t.Errorf("%s of a %T shows %s", verb, x, text)
				}
			}
		}
		// fmt asks nobody how to print with %p, and finds an address.
		if got := fmt.Sprintf(verb, v); got != "[exact]" && verb != "%p" {
			t.Errorf("%s shows %q", verb, got)
		}
	}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("oops", "v", v, "h", hidden)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("oops", "v", v, "h", hidden)
	if strings.Contains(b.String(), fmt.Sprint(secret)) {
		t.Errorf("a log shows %s", b.String())
	}
}

func TestVectorIsNotEncoded(t *testing.T) {
	for _, x := range []any{secretly(), []Vector{secretly()}, holder{Public: secretly()}} {
		if text, err := json.Marshal(x); err == nil {
			t.Errorf("JSON of a %T is %s", x, text)
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(x); err == nil {
			t.Errorf("gob encodes a %T", x)
		}
		if text, _ := xml.Marshal(x); strings.Contains(string(text), fmt.Sprint(secret)) {
			t.Errorf("XML of a %T is %s", x, text)
		}
	}
}

func TestOpen(t *testing.T) {
	if v := Seal([]int64{3, 1, 2}); !slices.Equal(v.Open(), []int64{3, 1, 2}) || v.Len() != 3 {
		t.Errorf("opened %v", v.Open())
	}
	if v := (Vector{}); v.Open() != nil || v.Len() != 0 {
		t.Error("nothing is not empty")
	}
}

func TestCoded(t *testing.T) {
	l := SealList([]string{"a", "b", "c", "b"})
	codes, kept := Encode(l, Seal([]int64{5, 6, 7, 8}), func(s string) (int, bool) { return int(s[0] - 'a'), s != "c" })
	if got := fmt.Sprint(codes.Open(), kept.Open(), codes, kept); got != "[0 1 1] [5 6 8] [exact] [exact]" {
		t.Error(got)
	}
	codes, kept = Encode(List[string]{}, Seal([]int64{1}), func(string) (int, bool) { return 0, true })
	if codes.Len() != 0 || kept.Len() != 0 {
		t.Error("something of nothing")
	}
}

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
		went, came, most, ok := CompareMembers(c.x, c.y, ab, c.names)
		if got := fmt.Sprint(went, came, most, ok); got != c.parted {
			t.Errorf("%s; want %s", got, c.parted)
		}
	}
}

func TestBetween(t *testing.T) {
	for _, c := range []struct {
		a, b []int64
		want string
	}{
		{nil, nil, "0 0 0 false false true"},
		{[]int64{1, 2}, []int64{1, 2}, "0 0 0 false false true"},
		{[]int64{1, 2}, []int64{4, -2}, "7 25 4 true true true"},
		{[]int64{0, 0, 5}, []int64{1, 2, 5}, "3 5 2 true false true"},
		{[]int64{3}, []int64{1}, "2 4 2 false true true"},
		{[]int64{1}, []int64{1, 2}, "0 0 0 false false false"},
		// The difference is no int64, and its square is no float64.
		{[]int64{math.MinInt64}, []int64{math.MaxInt64},
			"18446744073709551615 340282366920938463426481119284349108225 18446744073709551615 true false true"},
	} {
		m, ok := Between(Seal(c.a), Seal(c.b))
		if got := fmt.Sprint(m.L1, m.L2Squared, m.Largest, m.Up, m.Down, ok); got != c.want {
			t.Errorf("%v and %v: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

func TestBetweenNamed(t *testing.T) {
	a, b := Seal([]int64{1, 2, 3, 4}), Seal([]int64{3, 5, 7, 7})
	m, ok := BetweenNamed(a, b, []string{"x", "y"}, []string{"y", "z"}, 2)
	// x: 1 and 2 are gone; y: 3, 4 against 3, 5; z: 7 and 7 are new.
	if !ok || m.L1.Int64() != 1+2+1+14 || m.Largest.Int64() != 7 || m.L2Squared.Int64() != 1+4+1+49+49 {
		t.Errorf("%v %+v", ok, m)
	}
	if _, ok := BetweenNamed(a, b, []string{"x"}, []string{"y", "z"}, 2); ok {
		t.Error("lengths that do not fit")
	}
	if n := Apart(Seal([]int64{1, 1, 2, 5}), Seal([]int64{5, 1, 3})); n != 3 {
		t.Error(n)
	}
}

func TestExchanged(t *testing.T) {
	for _, c := range []struct {
		a, b       []int64
		came, went int
	}{
		{nil, nil, 0, 0},
		{[]int64{3, 1, 2}, []int64{1, 2, 3}, 0, 0},
		{[]int64{1, 1, 2}, []int64{2, 1}, 0, 1},
		{[]int64{1}, []int64{2, 1, 1, 0}, 3, 0},
		{[]int64{5, 6}, []int64{7}, 1, 2},
	} {
		if came, went := CountExchanged(Seal(c.a), Seal(c.b)); came != c.came || went != c.went {
			t.Errorf("%v and %v: %d came, %d went", c.a, c.b, came, went)
		}
	}
}

func TestCollector(t *testing.T) {
	rows := [][]int64{}
	c := NewCollector(func(codes []int64) { rows = append(rows, append([]int64{}, codes...)) })
	c.Add([]int64{secret, 1})
	c.Add([]int64{2, 3})
	Collector{}.Add([]int64{4}) // to nobody
	if fmt.Sprint(rows) != fmt.Sprint([][]int64{{secret, 1}, {2, 3}}) {
		t.Error(rows)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x", "%q"} {
		if got := fmt.Sprintf(verb, c); got != "[exact]" {
			t.Errorf("%s shows %q", verb, got)
		}
		if got := fmt.Sprintf(verb, struct{ c Collector }{c}); strings.Contains(got, fmt.Sprint(secret)) {
			t.Errorf("%s shows %q", verb, got)
		}
	}
	if text, err := json.Marshal(struct{ C Collector }{c}); err == nil {
		t.Errorf("JSON is %s", text)
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(c); err == nil {
		t.Error("gob encodes it")
	}
}
