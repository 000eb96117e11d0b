package httpapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
)

// parameter is the value of $1, $2, ...: null, a text, a truth, a number as it was written, a list
// of these, or an object that names its kind.
type parameter struct{ api.Parameter }

// kinds are those of parameters.
var kinds = []any{"integer", "decimal", "text", "boolean", "date", "timestamp",
	"integer[]", "decimal[]", "text[]", "boolean[]", "date[]", "timestamp[]"}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *parameter) UnmarshalJSON(b []byte) error {
	text := strings.TrimSpace(string(b))
	*p = parameter{}
	switch {
	case text == "null":
		p.Null = true
	case text == "true" || text == "false":
		p.Kind, p.Text = "boolean", text
	case strings.HasPrefix(text, `"`):
		p.Kind = "text"
		return json.Unmarshal(b, &p.Text)
	case strings.HasPrefix(text, "{"):
		var o struct {
			Kind  string  `json:"kind"`
			Value *string `json:"value"`
		}
		if err := json.Unmarshal(b, &o); err != nil {
			return err
		}
		if p.Kind, p.Null = o.Kind, o.Value == nil; o.Value != nil {
			p.Text = *o.Value
		}
	case strings.HasPrefix(text, "["):
		return p.readList(b)
	case strings.ContainsAny(text, ".eE"):
		p.Kind, p.Text = "decimal", text
	default:
		p.Kind, p.Text = "integer", text
	}
	return nil
}

// readList reads a list, whose values are of one kind, as the array that it is for = ANY ($1).
func (p *parameter) readList(b []byte) error {
	var all []parameter
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	kind, texts := "", make([]string, len(all))
	for i, one := range all {
		switch {
		case one.Null:
			texts[i] = "NULL"
			continue
		case strings.HasSuffix(one.Kind, "[]"):
			return errors.New("a parameter is a list of values, and not of lists")
		case kind == "integer" && one.Kind == "decimal", kind == "":
			kind = one.Kind
		case kind != one.Kind && !(kind == "decimal" && one.Kind == "integer"):
			return errors.New("the values of a list are of one kind")
		}
		texts[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(one.Text) + `"`
	}
	p.Kind, p.Text = cmp.Or(kind, "text")+"[]", "{"+strings.Join(texts, ",")+"}"
	return nil
}

// Schema implements [huma.SchemaProvider].
func (parameter) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "A value, or an object with its kind and its text",
		AnyOf: []*huma.Schema{
			{Type: huma.TypeString, Nullable: true}, {Type: huma.TypeNumber}, {Type: huma.TypeBoolean},
			{Type: huma.TypeArray, Items: &huma.Schema{}},
			{Type: huma.TypeObject, AdditionalProperties: false, Required: []string{"kind", "value"}, Properties: map[string]*huma.Schema{
				"kind": {Type: huma.TypeString, Enum: kinds}, "value": {Type: huma.TypeString, Nullable: true},
			}},
		},
	}
}

// decimal is a number or a text, as it was written: no digit of it is lost in a float.
type decimal string

// UnmarshalJSON implements [json.Unmarshaler].
func (d *decimal) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(d))
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	*d = decimal(n)
	return nil
}

// Schema implements [huma.SchemaProvider].
func (decimal) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeNumber}, {Type: huma.TypeString, MaxLength: new(64)}}}
}
