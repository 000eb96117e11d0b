package trino

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/discreet-dp/discreet/internal/testtrino"
)

// TestHash: what is chosen by follows from the parts, one by one.
func TestHash(t *testing.T) {
	got := testtrino.Shared(t).Rows(t, testtrino.Admin, "SELECT "+hash("'ü'", "CAST(NULL AS bigint)", "-5", "true"))[0][0]
	part := func(s string) string { return fmt.Sprintf("%016X", xxhash.Sum64String(s)) }
	want := xxhash.Sum64String(part("ü") + "-" + part("-5") + part("true"))
	if got != strconv.FormatInt(int64(want), 10) {
		t.Errorf("the hash is %v, and was to be %d", got, int64(want))
	}
}

// TestNestedExists: what Trino cannot plan is refused before it costs anything, and no more.
func TestNestedExists(t *testing.T) {
	ds := dataset(t, "trino://x@127.0.0.1:1/memory/s?sslmode=disable", strings.ReplaceAll(peopleKeys, "UNIT", "u"))
	const start = "SELECT COUNT(*) FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.u = a.u AND EXISTS (SELECT 1 FROM t c WHERE "
	for end, refused := range map[string]bool{"c.u = a.u AND c.v > a.v))": true, "c.u = b.u AND c.v > b.v))": false} {
		text := start + end
		if _, err := prepareOne(ds, text); (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestPlaceOnce: a key that is listed twice is written once, at its first place.
func TestPlaceOnce(t *testing.T) {
	want := "element_at(map(CAST(split('5,9', ',') AS array(bigint)), CAST(split('0,2', ',') AS array(bigint))), x)"
	if got := place("x", []int64{5, 5, 9}); got != want {
		t.Errorf("%s, and was to be %s", got, want)
	}
}

// TestPlaceBetween: what is between texts is in none of them.
func TestPlaceBetween(t *testing.T) {
	want := "split(from_utf8(X'6101046202040403'), from_utf8(X'04'))"
	if got := textList([]string{"a\x01", "b\x02", "", "\x03"}); got != want {
		t.Errorf("%s, and was to be %s", got, want)
	}
}
