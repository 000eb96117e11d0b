package trino

import (
	"fmt"
	"strconv"
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
