package duckdb

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// sqlDialect is DuckDB's SQL. What its TRY promises holds where the optimizer's rules are those
// that are allowed here.
var sqlDialect = &dialect.Dialect{
	Types: dialect.Types{Int64: "BIGINT", Int128: "HUGEINT", Float64: "DOUBLE", Text: "VARCHAR", Bool: "BOOLEAN",
		Day: "DATE", Moment: "TIMESTAMP"},
	Parameter: func(n int) string { return fmt.Sprintf("$%d", n) },
	Members:   func(array, typ string) string { return "(SELECT unnest(CAST(" + array + " AS " + typ + "[])))" },
	Whole:     (*big.Int).String,
	Double:    func(constant string) string { return constant + "::DOUBLE" },
	Try:       call("TRY"),
	TryCast:   tryCast,
	Quotient:  func(l, r string, _ bool) string { return l + " // " + r },
	Nearest:   func(x string) string { return tryCast(x, "BIGINT") },
	Round: func(how, x string, wide bool) string {
		return tryCast(how+"("+x+")", map[bool]string{false: "BIGINT", true: "HUGEINT"}[wide])
	},
	Sum: func(x string, wide bool) string {
		if wide {
			x = "CAST(" + x + " AS HUGEINT)"
		}
		return "sum(" + x + ")"
	},
	Hash: func(parts ...string) string { return "hash(" + strings.Join(parts, ", ") + ")" },
	Smallest: func(hash, n string, rows int64) string {
		return fmt.Sprintf("CAST(%s AS DOUBLE) * %s <= %d * 18446744073709551616.0::DOUBLE", hash, n, rows)
	},
	Groups:   dialect.GroupsByWindow,
	Values:   dialect.ValuesByWindow,
	Rank:     rank,
	Once:     "MATERIALIZED ",
	Again:    "NOT MATERIALIZED ",
	AntiJoin: func(l, r, on, where string) string { return l + " ANTI JOIN " + r + " ON " + on + " WHERE " + where },

	Functions: dialect.Functions(map[string]dialect.Function{"power": dialect.Plain("pow"), "btrim": dialect.Plain("trim")}),
	Match: func(x string, p tree.Pattern) string {
		return "regexp_full_match(" + x + ", '" + dialect.RegularExpression(p) + "', 's')"
	},
	Finds:     func(x, pattern string) string { return "regexp_matches(" + x + ", " + pattern + ")" },
	Contains:  func(x, part string) string { return "contains(" + x + ", " + part + ")" },
	HasPrefix: func(x, part string) string { return "prefix(" + x + ", " + part + ")" },
	HasSuffix: func(x, part string) string { return "suffix(" + x + ", " + part + ")" },
	Form:      func(x, form string) string { return "regexp_extract(" + x + `, '\A(?:` + form + `)\z')` },
	ReadText: func(raw, typ string) string {
		if typ == "VARCHAR" {
			return raw
		}
		return tryCast(raw, "VARCHAR")
	},
	// Days are proven to be in the years 1 to 9999.
	Date:      func(days string) string { return "(DATE '1970-01-01' + CAST(" + days + " AS INTEGER))" },
	Timestamp: call("make_timestamp"),
	Days:      func(date string) string { return "(" + date + " - DATE '1970-01-01')" },
	Micros:    call("epoch_us"),
	Part: func(name, time string) string {
		if own, ok := map[string]string{"dow": "dayofweek", "doy": "dayofyear"}[name]; ok {
			name = own
		}
		return name + "(" + time + ")"
	},
	Shift: func(time string, months, days, micros *big.Int) string {
		return fmt.Sprintf("epoch_us(%s + to_months(%v) + to_days(%v) + to_microseconds(%v))", time, months, days, micros)
	},

	Describe: func(from string) string {
		return "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM " + from + ")"
	},
	Binary:        func(name string) string { return name + ` COLLATE "binary"` },
	Finite:        call("isfinite"),
	ReadDate:      readDate,
	ReadTimestamp: readTimestamp,
	Row: func(table, number, hash string) string {
		return "struct_pack(t := " + dialect.QuoteText(table) + ", r := " + number + ", h := " + hash + ")"
	},
	RowHash: "u.h",

	Narrow:   func(typ string) bool { return typ != "BIGINT" && slices.Contains(integers[:fitting], typ) },
	Likeness: likeness,
	Common:   common,
	Readable: readable,
}

// rank is a hash of everything.
func rank(salt string, parts ...dialect.Ranked) string {
	list := []string{salt}
	for _, p := range parts {
		list = append(list, p.Text)
	}
	return "hash(" + strings.Join(list, ", ") + ")"
}

// call prints a function of one argument.
func call(name string) func(string) string {
	return func(x string) string { return name + "(" + x + ")" }
}

func tryCast(x, typ string) string { return "TRY_CAST(" + x + " AS " + typ + ")" }

func readDate(raw, typ string) string {
	if strings.HasPrefix(typ, "TIMESTAMP_") {
		// An infinite time of another unit fails on its way to a date, even in TRY_CAST.
		raw = tryCast(raw, "TIMESTAMP")
	}
	day := tryCast(raw, "DATE")
	return "CASE WHEN isfinite(" + day + ") THEN " + day + " - DATE '1970-01-01' END"
}

func readTimestamp(moment, typ string) string {
	if typ != "TIMESTAMP WITH TIME ZONE" { // which is in UTC, and has no other range
		moment = tryCast(moment, "TIMESTAMP")
	}
	return "CASE WHEN isfinite(" + moment + ") THEN epoch_us(" + moment + ") END"
}

// integers are the types of whole numbers, first those that 64 bits hold.
var integers = []string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT"}

const fitting = 7

// likeness is the same for types in which one value is spelled in one way. Fractions that are
// binary are not those that are decimal, a day is not its midnight, and a text can spell a number,
// a UUID or a day in many ways.
func likeness(typ string) string {
	if strings.HasSuffix(typ, "]") {
		return typ // a list
	}
	base, rest, _ := strings.Cut(typ, "(")
	_, scale, _ := strings.Cut(rest, ",")
	switch {
	case slices.Contains(integers, typ) || base == "DECIMAL" && scale == "0)":
		return "whole numbers"
	case base == "DECIMAL":
		return "decimals of scale " + scale
	case base == "VARCHAR" || base == "ENUM":
		return "texts"
	}
	return typ
}

// common is a type that holds all values of types that are alike, each in its own spelling.
func common(types []string) string {
	same, fit := true, true
	for _, t := range types {
		same = same && t == types[0]
		fit = fit && slices.Contains(integers[:fitting], t)
	}
	switch {
	case same:
		return types[0]
	case fit:
		return "BIGINT"
	}
	return "VARCHAR"
}

// readable reports whether a stored type can be read as a policy's type. Stored text is
// text only: a column of numbers that has become text is a mistake to be told,
// and not a column of NULLs.
func readable(t policy.Type, stored string) bool {
	if strings.HasSuffix(stored, "]") {
		return false // a list, as in DECIMAL(18,3)[]
	}
	base, _, _ := strings.Cut(stored, "(")
	switch base {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT":
		return t == policy.Integer || t == policy.Decimal
	case "FLOAT", "DOUBLE", "DECIMAL":
		return t == policy.Decimal
	case "BOOLEAN":
		return t == policy.Boolean
	case "DATE":
		return t == policy.Date
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS":
		return t == policy.Date || t == policy.Timestamp
	case "TIMESTAMP WITH TIME ZONE":
		return t == policy.Timestamp
	case "VARCHAR", "ENUM", "UUID":
		return t == policy.Text
	}
	return false
}
