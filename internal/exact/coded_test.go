package exact

import (
	"fmt"
	"testing"
)

func TestCoded(t *testing.T) {
	l := SealList([]string{"a", "b", "c", "b"})
	codes, kept := Coded(l, Seal([]int64{5, 6, 7, 8}), func(s string) (int, bool) { return int(s[0] - 'a'), s != "c" })
	if got := fmt.Sprint(codes.Open(), kept.Open(), codes, kept); got != "[0 1 1] [5 6 8] [exact] [exact]" {
		t.Error(got)
	}
	codes, kept = Coded(List[string]{}, Seal([]int64{1}), func(string) (int, bool) { return 0, true })
	if codes.Len() != 0 || kept.Len() != 0 {
		t.Error("something of nothing")
	}
}
