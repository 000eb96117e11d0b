package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// sqlDialect is DuckDB's SQL. What its TRY promises holds where the optimizer's rules are those
// that are allowed here.
var sqlDialect = &sqlgen.Dialect{
	Types: sqlgen.Types{Int64: "BIGINT", Int128: "HUGEINT", Float64: "DOUBLE", Text: "VARCHAR", Bool: "BOOLEAN",
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
	Groups:   sqlgen.GroupsByWindow,
	Values:   sqlgen.ValuesByWindow,
	Rank:     rank,
	Once:     "MATERIALIZED ",
	Again:    "NOT MATERIALIZED ",
	AntiJoin: func(l, r, on, where string) string { return l + " ANTI JOIN " + r + " ON " + on + " WHERE " + where },

	Functions: sqlgen.Functions(map[string]sqlgen.Function{"power": sqlgen.Plain("pow"), "btrim": sqlgen.Plain("trim")}),
	Match: func(x string, p tree.Pattern) string {
		return "regexp_full_match(" + x + ", '" + sqlgen.RegularExpression(p) + "', 's')"
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
		return "struct_pack(t := " + sqlgen.QuoteText(table) + ", r := " + number + ", h := " + hash + ")"
	},
	RowHash: "u.h",

	Narrow:   func(typ string) bool { return typ != "BIGINT" && slices.Contains(integers[:int64TypeCount], typ) },
	Likeness: likeness,
	Common:   common,
	Readable: readable,
}

func rank(salt string, parts ...sqlgen.Ranked) string {
	list := []string{salt}
	for _, p := range parts {
		list = append(list, p.Text)
	}
	return "hash(" + strings.Join(list, ", ") + ")"
}

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

const int64TypeCount = 7

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
		fit = fit && slices.Contains(integers[:int64TypeCount], t)
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

// optimizers are the rules of DuckDB's optimizer that may touch a question, each with the reason
// why it can do no harm. All others are off, those of later versions too. What is wanted of a rule:
// it computes no constant, it evaluates nothing that was not asked for, it moves nothing out of
// TRY, and it believes no statistics about what a computation can be.
//
// Of those that are off, harmful ones are known to do harm, and tests show it. Others are off
// because they could: statistics_propagation takes checks out of arithmetic, and conditions out of
// a statement, and compressed_materialization cuts numbers to what statistics say, of a Parquet
// file what whoever wrote it says; join_order lets the sizes of intermediate results decide how
// often a row is multiplied before it is dropped; build_side_probe_side lets one row turn a join
// round, and the printer knows which side is smaller by numbers that are public;
// join_filter_pushdown makes how much is read depend on the keys of single rows; and
// top_n_window_elimination was reported to give wrong results.
var optimizers = map[string]string{
	"filter_pushdown": "conditions are looked at earlier: they cannot fail, so nothing but time depends on when",
	"unused_columns":  "columns that nobody uses are not read",
	"column_lifetime": "columns are dropped after their last use",
	"deliminator":     "a subquery that asks about the row outside becomes a plain join with it",
	"cte_inlining":    "a part of a statement with a name is put where it is used, once",
	"limit_pushdown":  "there is a LIMIT where public tables are read and nowhere else",
}

// harmfulOptimizers are the rules that must be off, and why.
var harmfulOptimizers = map[string]string{
	"expression_rewriter": "it makes x * (c1 * c2) of (x * c1) * c2, and so an overflow of what had none, and x > 5 of TRY_CAST(x AS " +
		"...) > 5, which is NULL where x does " +
		"not fit; package planner computes with constants, in integers of any size",
	"common_subexpressions": "it moves what stands twice inside of TRY out of it, where it fails",
}

// restrictOptimizer turns off all rules of a DuckDB that are not allowed.
func restrictOptimizer(ctx context.Context, db *sql.DB) error {
	disabled, err := disabledOptimizers(ctx, db)
	if err != nil {
		return err
	}
	set := "SET disabled_optimizers = " + sqlgen.QuoteText(strings.Join(disabled, ","))
	if _, err := db.ExecContext(ctx, set); err != nil {
		return fmt.Errorf("lock DuckDB (%s): %w", set, err)
	}
	return nil
}

// disabledOptimizers names all rules of this DuckDB that are not allowed.
func disabledOptimizers(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM duckdb_optimizers()")
	if err != nil {
		return nil, fmt.Errorf("lock DuckDB: its optimizer's rules cannot be listed: %w", err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if _, ok := optimizers[name]; !ok {
			out = append(out, name)
		}
	}
	return out, rows.Err()
}
