package exact

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
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
