package username_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/username"
)

func Example() {
	fmt.Println(username.Check("josé") == "", username.Canonical("jose\u0301") == "josé")
	// Output: true true
}

func TestCheck(t *testing.T) {
	for _, name := range []string{"ana", "Ana.B@x-1_", "josé", "Müller", "Анна", "王小明", "נועה", "علي", "ไอ", strings.Repeat("é", 32)} {
		if problem := username.Check(name); problem != "" {
			t.Errorf("%q %s", name, problem)
		}
	}
	for _, name := range []string{"", "a b", "a/b", "a#b", "a:b", "a\"b", "a%b", "a,b", "a\tb", "a\x00b", "\xff", "a\xffb", "jose\u0301",
		"ａna", "a\u200db", "a\u00adb", "a\u202eb", "\u0301a", "😀", "a¹", "½", "a\u00a0b", strings.Repeat("a", 65), strings.Repeat("é", 33),
		"א1ב a", "\ufeffana"} {
		if username.Check(name) == "" {
			t.Errorf("%q is a name", name)
		}
		username.Canonical(name)
	}
}

// What two people are called is never the same account: canonical names are fixed points.
func FuzzCanonical(f *testing.F) {
	f.Add("jose\u0301")
	f.Fuzz(func(t *testing.T, name string) {
		c := username.Canonical(name)
		if username.Check(c) == "" && username.Canonical(c) != c {
			t.Errorf("%q becomes %q, and that %q", name, c, username.Canonical(c))
		}
	})
}
