package curator

import (
	"strings"
	"testing"
)

// Who has more rows than are joined, or sorted, reads which number it was and where it is from.
func TestJoinedWords(t *testing.T) {
	w := newWorld(t, plenty)
	for text, want := range map[string]string{
		"SELECT COUNT(*) FROM visits a JOIN visits b ON a.pid = b.pid": "somebody with more than 200 rows is joined with 200 of them " +
			"(max_joined: 200 in the policy)",
		"SELECT MEDIAN(cost) FROM visits": "somebody with more than 6250 rows is joined or sorted with 6250 of them (from max_joined: " +
			"200 in the policy)",
		"SELECT COUNT(*) FROM visits": "",
	} {
		notes := strings.Join(w.mustAsk(text).Notes, "\n")
		if want == "" && strings.Contains(notes, "max_joined") ||
			want != "" && !strings.Contains(notes, want+"; what that leaves out is in no error bar") {
			t.Errorf("%s: %q", text, notes)
		}
	}
}
