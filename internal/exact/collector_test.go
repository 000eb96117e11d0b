package exact

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

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
