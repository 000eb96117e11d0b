package trino

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/posix"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// The names of types, as Trino spells them.
const (
	bigint  = "bigint"
	decimal = "decimal(38,0)"
	double  = "double"
	varchar = "varchar"
	moment  = "timestamp(6)"
)

// sqlDialect is Trino's SQL. What its TRY catches, and what it does not, is in README.md.
var sqlDialect = &sqlgen.Dialect{
	Types: sqlgen.Types{Int64: bigint, Int128: decimal, Float64: double, Text: varchar, Bool: "boolean", Day: "date", Moment: moment},
	// Trino numbers parameters by their place in the text, where a printer writes some of them
	// twice.
	Constant: constant,
	Members:  func(array, _ string) string { return "(" + array + ")" },
	Whole:    printInteger,
	Double:   doubleOf,
	Try:      call("TRY"),
	TryCast:  tryCast,
	Let:      let,
	Quotient: quotient,
	Nearest:  nearest,
	Round:    round,
	// Trino's sum of bigints is one, and fails where it does not fit.
	Sum:      func(x string, _ bool) string { return "sum(CAST(" + x + " AS " + decimal + "))" },
	SmallSum: func(x string) string { return "sum(CAST(" + x + " AS " + bigint + "))" },
	Hash:     hash,
	Smallest: func(hash, n string, rows int64) string {
		return fmt.Sprintf("(CAST(%s AS double) + 9223372036854775808E0) * %s <= %d * 18446744073709551616E0", hash, n, rows)
	},
	Groups:   printGroups,
	Values:   printValues,
	Rank:     printRank,
	Place:    printPosition,
	ByPerson: byPerson,
	Unpinned: true,
	AntiJoin: func(l, r, on, where string) string {
		return l + " WHERE NOT EXISTS (SELECT 1 FROM " + r + " WHERE " + on + ") AND " + where
	},

	Functions: sqlgen.Functions(functions),
	Match:     like,
	Finds:     printFinds,
	Contains:  func(x, part string) string { return "(strpos(" + x + ", " + part + ") > 0)" },
	HasPrefix: func(x, part string) string { return "starts_with(" + x + ", " + part + ")" },
	Form:      func(x, form string) string { return "regexp_extract(" + x + `, '\A(?:` + form + `)\z')` },
	ReadText:  readText,
	Date:      func(days string) string { return "date_add('day', CAST(" + days + " AS bigint), DATE '1970-01-01')" },
	Timestamp: timestamp,
	Days:      days,
	Micros:    micros,
	Part: func(name, time string) string {
		switch name {
		case "dow": // from 0, a Sunday, where Trino's is the ISO day
			return "(day_of_week(" + time + ") % 7)"
		case "isodow":
			return "day_of_week(" + time + ")"
		case "doy":
			return "day_of_year(" + time + ")"
		case "isoyear":
			return "year_of_week(" + time + ")"
		}
		return name + "(" + time + ")"
	},
	Shift: func(time string, months, days, more *big.Int) string {
		// Months and days move the day, and leave the time of it.
		moved := fmt.Sprintf("date_add('day', %v, date_add('month', %v, %s))", days, months, time)
		return "(" + micros(moved) + " + " + printInteger(more) + ")"
	},

	Describe:      func(from string) string { return "DESCRIBE " + from },
	Compare:       compare,
	Binary:        func(name string) string { return name }, // it has no collations
	Finite:        call("is_finite"),
	ReadDate:      readDate,
	ReadTimestamp: readTimestamp,

	Narrow:   func(typ string) bool { return typ == "tinyint" || typ == "smallint" || typ == "integer" },
	Likeness: likeness,
	Common:   common,
	Readable: readable,
}

func call(name string) func(string) string {
	return func(x string) string { return name + "(" + x + ")" }
}

func tryCast(x, typ string) string { return "TRY_CAST(" + x + " AS " + typ + ")" }

// constant spells a constant. Texts are their bytes in hexadecimal digits: whatever is in one, no
// sign of it is read as SQL.
func constant(v any) string {
	switch v := v.(type) {
	case string:
		return "from_utf8(X'" + hex.EncodeToString([]byte(v)) + "')"
	case int64:
		return "BIGINT '" + strconv.FormatInt(v, 10) + "'"
	case bool:
		return strconv.FormatBool(v)
	case []string:
		return printList(v)
	case []int64:
		return printList(v)
	}
	panic(fmt.Sprintf("trino: no constant of type %T", v))
}

// printList spells the elements of an array. What is in no list is equal to nothing.
func printList[T any](values []T) string {
	if len(values) == 0 {
		return "NULL"
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = constant(v)
	}
	return strings.Join(out, ", ")
}

// printInteger spells an integer. Without a type one of more than 64 bits is none.
func printInteger(n *big.Int) string {
	if n.IsInt64() {
		return n.String()
	}
	return "DECIMAL '" + n.String() + "'"
}

// doubleOf spells a floating-point number, which may stand in quotes.
func doubleOf(constant string) string {
	switch constant = strings.Trim(constant, "'"); constant {
	case "+Inf":
		constant = "Infinity"
	case "-Inf":
		constant = "-Infinity"
	}
	return "DOUBLE '" + constant + "'"
}

// quotient divides integers. Trino rounds the quotient of decimals, so what is left over is taken
// off before; what fits in 64 bits may have been computed in more, and is cast.
func quotient(l, r string, wide bool) string {
	if wide {
		return let(l, "l", let(r, "r", "(l - l % r) / r"))
	}
	return "CAST(" + l + " AS bigint) / CAST(" + r + " AS bigint)"
}

// nearest rounds to the nearest integer and from the middle to the even one, which Trino's cast
// does not: beyond 2^52 there is nothing behind the point, and below it that number leaves no room
// for it.
func nearest(x string) string {
	const far = "4503599627370496E0"
	return fmt.Sprintf("TRY_CAST(CASE WHEN abs(%[1]s) < %[2]s THEN CASE WHEN %[1]s < 0E0 THEN (%[1]s - %[2]s) + %[2]s ELSE (%[1]s + "+
		"%[2]s) - %[2]s END ELSE %[1]s END AS bigint)", x, far)
}

// round rounds to an integer. Trino's cast of a large number to a decimal has zeros behind its
// first digits, so it is cast in two halves, both of which are exact.
func round(how, x string, wide bool) string {
	if how == "trunc" {
		how = "truncate"
	}
	x = how + "(" + x + ")"
	if !wide {
		return tryCast(x, bigint)
	}
	const half = "1152921504606846976" // 2^60
	const upper = "truncate(x / DOUBLE '" + half + "')"
	return let(x, "x", fmt.Sprintf("CAST(%s AS %s) * DECIMAL '%s' + %s", tryCast(upper, bigint), decimal, half,
		tryCast("x - "+upper+" * DOUBLE '"+half+"'", bigint)))
}

// let names a value by a function of one element. A name hides others that are the same, and what
// is named last is all that it stands for.
func let(x, name, in string) string {
	return "element_at(transform(ARRAY[" + x + "], " + name + " -> " + in + "), 1)"
}

// hash is 64 bits of all parts. Each of them is hashed by itself: Trino joins no texts of more than
// a mebibyte together, and fails outside of TRY over a row that has them.
func hash(parts ...string) string {
	hashed := make([]string, len(parts))
	for i, p := range parts {
		hashed[i] = "coalesce(to_hex(xxhash64(to_utf8(CAST(" + p + " AS varchar)))), '-')"
	}
	return "from_big_endian_64(xxhash64(to_utf8(" + strings.Join(hashed, " || ") + ")))"
}

// functions are those that Trino has not, or means otherwise.
var functions = map[string]sqlgen.Function{
	"power": sqlgen.Plain("power"),
	"btrim": trim("BOTH"), "ltrim": trim("LEADING"), "rtrim": trim("TRAILING"),
	"greatest": extremeOf("array_max"), "least": extremeOf("array_min"),
	// Trino's capital of ß is itself.
	"upper": func(p *sqlgen.ExprPrinter, e *tree.Call) string {
		return "replace(upper(" + p.Expr(e.Args[0]) + "), " + constant("ß") + ", " + constant("ẞ") + ")"
	},
	"right": func(p *sqlgen.ExprPrinter, e *tree.Call) string {
		return let(p.Expr(e.Args[0]), "x", fmt.Sprintf("substr(x, greatest(length(x) - %v + 1, 1))", e.Args[1].(*tree.Literal).Number))
	},
	"concat": func(p *sqlgen.ExprPrinter, e *tree.Call) string {
		all := p.All(e.Args)
		for i, x := range all {
			all[i] = "coalesce(" + x + ", '')"
		}
		return "(" + strings.Join(all, " || ") + ")"
	},
	"split_part": func(p *sqlgen.ExprPrinter, e *tree.Call) string {
		by := p.All(e.Args[1:])
		return let(p.Expr(e.Args[0]), "x", "CASE WHEN x IS NOT NULL THEN coalesce(split_part(x, "+strings.Join(by, ", ")+"), '') END")
	},
	"parse_timestamp": func(p *sqlgen.ExprPrinter, e *tree.Call) string {
		return micros(tryCast("replace("+p.TimeForm(e, tree.TimestampText)+", 'T', ' ')", moment))
	},
	"text": func(p *sqlgen.ExprPrinter, e *tree.Call) string {
		if x := e.Args[0]; x.Type().Kind == tree.Timestamp {
			// Trino writes all six digits, and others none that are not needed.
			return "trim(TRAILING '.' FROM trim(TRAILING '0' FROM CAST(" + p.Calendar(x) + " AS varchar)))"
		}
		return sqlgen.PrintText(p, e)
	},
}

func trim(where string) sqlgen.Function {
	return func(p *sqlgen.ExprPrinter, e *tree.Call) string {
		return "trim(" + where + " " + p.Expr(e.Args[1]) + " FROM " + p.Expr(e.Args[0]) + ")"
	}
}

// compare keeps a comparison with a list in it apart from others. Trino makes x IN (x, y) of
// x = x OR x = y, and in 476 that is false where there is a list in y. It is so row by row, and so
// a wrong answer rather than one that depends on other rows. What is inside of TRY it leaves as it
// is; a subquery does not stand there.
func compare(text string) string {
	if strings.Contains(text, "ARRAY[") && !strings.Contains(text, "SELECT") {
		return "TRY(" + text + ")"
	}
	return "(" + text + ")"
}

// extremeOf is the greatest or the least of what is not NULL: Trino's own is NULL where one is.
func extremeOf(of string) sqlgen.Function {
	return func(p *sqlgen.ExprPrinter, e *tree.Call) string {
		return of + "(filter(ARRAY[" + strings.Join(p.All(e.Args), ", ") + "], v -> v IS NOT NULL))"
	}
}

// like prints a pattern as LIKE, which Trino runs as an automaton, in time that is proportional to
// the text.
func like(x string, p tree.Pattern) string {
	var b strings.Builder
	for _, c := range p {
		switch {
		case c.Anything():
			b.WriteByte('%')
		case c.One():
			b.WriteByte('_')
		default:
			if strings.ContainsRune(`%_\`, rune(c)) {
				b.WriteByte('\\')
			}
			b.WriteRune(rune(c))
		}
	}
	return "(" + x + " LIKE " + constant(b.String()) + ` ESCAPE '\')`
}

var integers = []string{"tinyint", "smallint", "integer", bigint}

// baseType is a type without its parameters: timestamp(3) with time zone is a timestamp with time
// zone.
func baseType(typ string) string {
	before, rest, found := strings.Cut(typ, "(")
	if !found {
		return typ
	}
	_, after, _ := strings.Cut(rest, ")")
	return before + after
}

// scale is how many digits behind the point a decimal has.
func scale(typ string) string {
	_, after, _ := strings.Cut(typ, ",")
	return strings.TrimSpace(strings.TrimSuffix(after, ")"))
}

// readable reports whether a stored type can be read as a policy's type. Stored text is text only,
// and what has no one spelling is nothing.
func readable(t policy.Type, stored string) bool {
	switch baseType(stored) {
	case "tinyint", "smallint", "integer", bigint:
		return t == policy.Integer || t == policy.Decimal
	case "real", double:
		return t == policy.Decimal
	case "decimal":
		return t == policy.Decimal || t == policy.Integer && scale(stored) == "0"
	case "boolean":
		return t == policy.Boolean
	case "date":
		return t == policy.Date
	case "timestamp":
		return t == policy.Date || t == policy.Timestamp
	case "timestamp with time zone":
		return t == policy.Timestamp
	case varchar, "char", "uuid":
		return t == policy.Text
	}
	return false
}

// likeness is the same for types in which one value is spelled in one way.
func likeness(typ string) string {
	switch b := baseType(typ); {
	case slices.Contains(integers, typ) || b == "decimal" && scale(typ) == "0":
		return "whole numbers"
	case b == "decimal":
		return "decimals of scale " + scale(typ)
	case b == varchar:
		return "texts"
	}
	return typ
}

// common is a type that holds all values of types that are alike, each in its own spelling.
func common(types []string) string {
	same, fit := true, true
	for _, t := range types {
		same = same && t == types[0]
		fit = fit && slices.Contains(integers, t)
	}
	switch {
	case same:
		return types[0]
	case fit:
		return bigint
	}
	return varchar
}

// identifiesPeople are types that can say whose a row is: those of which equal values have one
// spelling. Floating-point numbers have two zeros.
func identifiesPeople(typ string) bool {
	switch baseType(typ) {
	case "tinyint", "smallint", "integer", bigint, "decimal", varchar, "uuid", "date", "boolean", "timestamp":
		return true
	}
	return false
}

// maxTextBytes is how many bytes a text has at most.
const maxTextBytes = 1 << 20

// readText reads a text. Trino holds any bytes, and some of its functions fail over those that are
// none of Unicode's with an error that TRY does not catch; of such parts U+FFFD is made. It pads a
// char with blanks, which are not part of it. One that is longer than a text should be is none, as
// in PostgreSQL: a pattern takes a second for some million characters, and some hundred bytes for
// each of them, and one person's text must not be what a question waits for.
func readText(raw, typ string) string {
	switch baseType(typ) {
	case varchar:
		return fmt.Sprintf("CASE WHEN length(to_utf8(%s)) <= %d THEN from_utf8(to_utf8(%s)) END", raw, maxTextBytes, raw)
	case "char":
		return "rtrim(from_utf8(to_utf8(CAST(" + raw + " AS varchar))))"
	}
	return "CAST(" + raw + " AS varchar)"
}

// printFinds prints that a text has a part of a pattern, which stands in quotes.
func printFinds(x, pattern string) string {
	a, err := posix.NewAutomaton(strings.ReplaceAll(strings.Trim(pattern, "'"), "''", "'"))
	if err != nil {
		panic("trino: a pattern that was not refused: " + err.Error()) // see package planner
	}
	return printAutomaton(a, x)
}

func printAutomaton(a *posix.Automaton, x string) string {
	var step, end strings.Builder
	for i, s := range a.States {
		fmt.Fprintf(&step, " WHEN %d THEN ", i)
		if len(s.Edges) == 1 {
			fmt.Fprint(&step, s.Edges[0].To)
		} else {
			step.WriteString("CASE")
			for _, e := range s.Edges[:len(s.Edges)-1] {
				fmt.Fprintf(&step, " WHEN c <= %d THEN %d", e.Upto, e.To)
			}
			fmt.Fprintf(&step, " ELSE %d END", s.Edges[len(s.Edges)-1].To)
		}
		if s.Ends {
			fmt.Fprintf(&end, ", %d", i)
		}
	}
	if end.Len() == 0 {
		end.WriteString(", -1")
	}
	read := fmt.Sprintf("reduce(transform(regexp_extract_all(t, '(?s).'), c -> codepoint(CAST(c AS varchar(1)))), b, "+
		"(s, c) -> CASE s%s END, s -> s)", step.String())
	return fmt.Sprintf("reduce(regexp_extract_all(%s, '(?s).{1,%d}'), 0, (b, t) -> %s, s -> s IN (%s))", x, charactersAtOnce, read,
		strings.TrimPrefix(end.String(), ", "))
}

// charactersAtOnce is how many characters of a text are in a list at a time. There an element is
// many times what its character is in the text, and one person's text may be as long as they like.
const charactersAtOnce = 1000

// epoch is the beginning of time, and days are counted from its day.
const (
	epoch    = "TIMESTAMP '1970-01-01 00:00:00.000000'"
	epochDay = "DATE '1970-01-01'"
)

func days(date string) string { return "date_diff('day', " + epochDay + ", " + date + ")" }

// timestamp makes a time of microseconds, of which Trino has no function.
func timestamp(x string) string {
	return "CAST(from_unixtime_nanos(CAST(" + x + " AS " + decimal + ") * 1000) AT TIME ZONE 'UTC' AS " + moment + ")"
}

// micros are the microseconds of a time: its seconds, which are exact, and the digits behind them.
func micros(time string) string {
	return let(time, "t", "date_diff('second', "+epoch+", date_trunc('second', t)) * 1000000 + CAST(substr(CAST(t AS varchar), -6) "+
		"AS bigint)")
}

// precision is how many digits of a second a stored time has.
func precision(typ string) int {
	_, rest, _ := strings.Cut(typ, "(")
	digits, _, _ := strings.Cut(rest, ")")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 3 // Trino's own
	}
	return n
}

func readDate(raw, typ string) string {
	if baseType(typ) != "date" {
		// A day is the one that a time is on: the cast of a time to a day cuts off.
		raw = "CAST(" + raw + " AS date)"
	}
	return days(raw)
}

// readTimestamp reads a time to the microsecond. What is finer is cut off, and not rounded.
func readTimestamp(raw, typ string) string {
	if baseType(typ) == "timestamp with time zone" {
		raw = "(" + raw + " AT TIME ZONE 'UTC')"
	}
	whole := "CAST(" + raw + " AS timestamp(" + strconv.Itoa(precision(typ)) + "))"
	seconds := "date_diff('second', TIMESTAMP '1970-01-01 00:00:00', CAST(date_trunc('second', " + whole + ") AS timestamp(0)))"
	if precision(typ) == 0 {
		return "(" + seconds + " * 1000000)"
	}
	digits := min(precision(typ), 6)
	fraction := fmt.Sprintf("CAST(substr(CAST(%s AS varchar), -%d, %d) AS bigint)", whole, precision(typ), digits)
	// Trino's times begin within a second, whose beginning it does not have: it fails, and TRY
	// does not catch it. No other database has such a time; it is none.
	return fmt.Sprintf("CASE WHEN %s >= %s THEN %s * 1000000 + %s * %s END", whole, firstSecond, seconds, fraction,
		"1"+strings.Repeat("0", 6-digits))
}

// firstSecond is the first that Trino has the whole of.
const firstSecond = "TIMESTAMP '-290308-12-21 19:59:06'"
