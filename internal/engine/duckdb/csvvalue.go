package duckdb

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/spelling"
	"github.com/discreet-dp/discreet/policy"
)

// csvTypes are DuckDB's types for the policy's.
var csvTypes = map[policy.Type]string{
	policy.Integer: "BIGINT", policy.Decimal: "DOUBLE", policy.Text: "VARCHAR", policy.Boolean: "BOOLEAN", policy.Date: "DATE",
	policy.Timestamp: "TIMESTAMP",
}

// withoutNulls prints a text of a CSV file, and NULL for the texts that stand for it.
func withoutNulls(raw string, nulls []string) string {
	if len(nulls) == 0 {
		return raw
	}
	quoted := make([]string, len(nulls))
	for i, n := range nulls {
		quoted[i] = dialect.QuoteText(n)
	}
	return "CASE WHEN trim(" + raw + ") NOT IN (" + strings.Join(quoted, ", ") + ") THEN " + raw + " END"
}

// read prints the value of a text, and NULL where it is not spelt as the format says. It depends on
// that text alone, fails over none, and takes time in proportion to it.
func read(text string, typ policy.Type, format string) string {
	cast := func(text string) string { return "TRY_CAST(" + text + " AS " + csvTypes[typ] + ")" }
	if format == "" {
		return cast(text)
	}
	switch typ {
	case policy.Date, policy.Timestamp:
		m, err := spelling.ParseMoment(format)
		if err != nil {
			return "NULL" // a policy has no such format
		}
		return whole(text, m.Pattern, cast("try_strptime(trim("+text+"), "+dialect.QuoteText(m.Strptime)+")"))
	case policy.Integer, policy.Decimal:
		n, err := spelling.ParseNumber(format, typ == policy.Integer)
		if err != nil {
			return "NULL"
		}
		plain := text
		if n.Drop != "" {
			plain = "translate(" + plain + ", " + dialect.QuoteText(n.Drop) + ", '')"
		}
		if n.Mark == "," {
			plain = "replace(" + plain + ", ',', '.')"
		}
		return whole(text, n.Pattern, cast(plain))
	case policy.Boolean:
		b, err := spelling.ParseTruth(format)
		if err != nil {
			return "NULL"
		}
		return fmt.Sprintf("CASE lower(trim(%s)) WHEN %s THEN true WHEN %s THEN false END", text,
			dialect.QuoteText(strings.ToLower(b.Yes)), dialect.QuoteText(strings.ToLower(b.No)))
	}
	return text
}

// whole prints a value for texts that match a pattern from their beginning to their end.
func whole(text, pattern, value string) string {
	return "CASE WHEN regexp_full_match(trim(" + text + "), " + dialect.QuoteText(pattern) + ") THEN " + value + " END"
}
