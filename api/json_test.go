package api_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/model"
)

// Lists are never null, but for errors that nobody knows, and < is written as the encoder outside
// wants it.
func TestJSON(t *testing.T) {
	half := 2.5
	start := `{"columns":["x<y"],"rows":`
	end := `,"cost":{"epsilon":0,"rho":0,"delta":0},"remaining":{"epsilon":0,"rho":0,"delta":0,"pure":0,"keys_delta":0},` +
		`"receipt":{"sequence":0,"hash":"","free":false},"limits":{"max_rows":1,"max_groups":2,"cut":true},"confidence":0.95,"notes":[],` +
		`"data_version":{"number":1},"alerts":[]}`
	answer := api.Answer{Columns: api.Columns{{Name: "x<y", Kind: "integer"}}, Confidence: 0.95, Version: api.DataVersion{Number: 1}}
	answer.MaxRows, answer.MaxGroups, answer.Cut = 1, 2, true
	full, outer := answer, answer
	full.Rows, full.Errors = [][]any{{json.Number("7")}, {nil}}, [][]*float64{{&half}, {nil}}
	outer.Rows = [][]any{{"<"}}
	for _, one := range []struct {
		v    any
		want string
	}{
		{answer, start + `[],"errors":[]` + end},
		{&full, start + `[[7],[null]],"errors":[[2.5],[null]]` + end},
		{[]api.Answer{outer}, `[` + start + `[["<"]],"errors":null` + end + `]`},
		{api.List[string](nil), `[]`},
		{api.List[string]{"a<b"}, `["a<b"]`},
		{api.Columns(nil), `[]`},
		{struct{ M *model.Model }{}, `{"M":null}`},
	} {
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(one.v); err != nil || out.String() != one.want+"\n" {
			t.Errorf("%v\n%s\nwant\n%s", err, out.String(), one.want)
		}
		escaped, err := json.Marshal(one.v)
		var want bytes.Buffer
		if json.HTMLEscape(&want, []byte(one.want)); err != nil || string(escaped) != want.String() {
			t.Errorf("%v\n%s\nwant\n%s", err, escaped, want.String())
		}
	}
}
