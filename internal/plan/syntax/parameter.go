package syntax

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// MaxParameters is how many parameters a question can have. Each is a word of the text, so more
// would not fit anyway.
const MaxParameters = 1000

// numberText is all that a number can look like: no NaN, no infinity, no other base, no underscore.
// The exponent's size is dp.ParseDecimal's to check.
var numberText = regexp.MustCompile(`\A[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\z`)

// literal is a value as it is written in a text.
type literal struct {
	sql    string // with parentheses around it
	value  api.Parameter
	number string // how a number is spelled, with its sign
	array  bool
	items  []literal // of an array
}

// spellParameter checks a value and spells it. A value is as long as a text at most, and that is
// looked at first, so that no value makes work that a text could not. The parentheses end whatever
// word stands before it: without them E$1, U&$1 or a name before a quote would be read as one.
func spellParameter(p api.Parameter) (literal, *api.Refusal) {
	if p.Null {
		return literal{sql: "(NULL)", value: p}, nil
	}
	switch {
	case len(p.Text) > questions.Bytes:
		return literal{}, Refuse(-1, "send a shorter value", "its value is longer than %d bytes", questions.Bytes)
	case !utf8.ValidString(p.Text):
		return literal{}, Refuse(-1, "send the value as UTF-8", "its value is not valid UTF-8")
	case strings.IndexByte(p.Text, 0) >= 0:
		return literal{}, Refuse(-1, "remove it", "its value contains a zero byte")
	}
	bare := strings.TrimSpace(p.Text)
	if kind, ok := strings.CutSuffix(p.Kind, "[]"); ok {
		return spellArray(p, kind)
	}
	switch p.Kind {
	case "", "text":
		p.Kind = "text"
		return literal{sql: "(" + tree.Quote(p.Text) + ")", value: p}, nil
	case "integer", "decimal":
		return spellNumber(p, bare)
	case "boolean":
		b, ok := tree.ReadBoolean(bare)
		if !ok {
			return literal{}, Refuse(-1, "send true or false", "its value is not a boolean")
		}
		p.Text = "false"
		if b {
			p.Text = "true"
		}
		return literal{sql: "(" + p.Text + ")", value: p}, nil
	case "date":
		if _, ok := policy.ParseDate(bare); !ok {
			return literal{}, Refuse(-1, "send a day as in 2024-01-31", "its value is not a date")
		}
		p.Text = bare
		return literal{sql: "(DATE " + tree.Quote(bare) + ")", value: p}, nil
	case "timestamp":
		if _, ok := policy.ParseTimestamp(bare); !ok {
			return literal{}, Refuse(-1, "send a time in UTC as in 2024-01-31 12:30:00", "its value is not a timestamp")
		}
		p.Text = bare
		return literal{sql: "(TIMESTAMP " + tree.Quote(bare) + ")", value: p}, nil
	}
	return literal{}, Refuse(-1, "send an integer, decimal, text, boolean, date or timestamp", "its kind cannot be used here")
}

// spellArray spells an array, each of its values as one of their kind is.
func spellArray(p api.Parameter, kind string) (literal, *api.Refusal) {
	texts, ok := Elements(p.Text, MaxElements)
	if !ok {
		return literal{}, Refuse(-1, "send a list of values, in one dimension",
			"its value is not an array of at most %d elements", MaxElements)
	}
	out := literal{value: p, array: true}
	var all strings.Builder
	for i, t := range texts {
		one := api.Parameter{Kind: kind, Null: t == nil}
		if t != nil {
			one.Text = *t
		}
		l, refused := spellParameter(one)
		if refused != nil {
			return literal{}, refused
		}
		out.items = append(out.items, l)
		if i > 0 {
			all.WriteByte(',')
		}
		all.WriteString(l.sql)
	}
	out.sql = "(ARRAY[" + all.String() + "]::" + kind + "[])"
	return out, nil
}

// spellNumber spells a number. A decimal has a point even where it is whole, because 1 / 2 and 1.0
// / 2 are not the same.
func spellNumber(p api.Parameter, text string) (literal, *api.Refusal) {
	_, err := dp.ParseDecimal(text)
	switch {
	case err != nil || !numberText.MatchString(text):
		return literal{},
			Refuse(-1, "send a decimal number of at most 64 digits, with an exponent of at most 400", "its value is not a number")
	case p.Kind == "integer" && strings.ContainsAny(text, ".eE"):
		return literal{}, Refuse(-1, "send a whole number, or a decimal", "its value is not a whole number")
	case p.Kind == "decimal" && !strings.ContainsAny(text, ".eE"):
		text += ".0"
	}
	p.Text = strings.TrimPrefix(text, "+")
	return literal{sql: "(" + p.Text + ")", value: p, number: p.Text}, nil
}
