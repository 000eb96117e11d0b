package announce

import "strings"

// functions are PostgreSQL's, by name. Those that texts can have and PostgreSQL has not are not
// here: they get the type of their values.
var functions = readFunctions(`
abs: int2>int2 int4>int4 int8>int8 numeric>numeric float4>float4 float8>float8
sign sqrt exp ln log10 ceil ceiling floor: float8>float8 numeric>numeric
log: float8>float8 numeric>numeric numeric,numeric>numeric
round trunc: float8>float8 numeric>numeric numeric,int4>numeric
power pow: float8,float8>float8 numeric,numeric>numeric
mod: int2,int2>int2 int4,int4>int4 int8,int8>int8 numeric,numeric>numeric
gcd lcm: int4,int4>int4 int8,int8>int8 numeric,numeric>numeric
cbrt degrees radians sin cos tan cot asin acos atan sinh cosh tanh asinh acosh atanh: float8>float8
atan2: float8,float8>float8
factorial: int8>numeric
date_trunc: text,timestamp>timestamp text,timestamptz>timestamptz text,interval>interval
date_bin: interval,timestamp,timestamp>timestamp interval,timestamptz,timestamptz>timestamptz
timezone: text,timestamp>timestamptz text,timestamptz>timestamp
to_timestamp: float8>timestamptz text,text>timestamptz
age: timestamp,timestamp>interval timestamptz,timestamptz>interval timestamp>interval timestamptz>interval
sum dp_sum: int2>int8 int4>int8 int8>numeric numeric>numeric float4>float4 float8>float8 interval>interval
avg: int2>numeric int4>numeric int8>numeric numeric>numeric float4>float8 float8>float8 interval>interval
stddev stddev_pop stddev_samp variance var_pop var_samp: int2>numeric int4>numeric int8>numeric numeric>numeric float4>float8 float8>float8
bit_and bit_or bit_xor: int2>int2 int4>int4 int8>int8
min max: int2>int2 int4>int4 int8>int8 numeric>numeric float4>float4 float8>float8 text>text bpchar>bpchar date>date timestamp>timestamp timestamptz>timestamptz interval>interval
percentile_cont median: float8>float8 interval>interval
`)

// fixed are functions with one type, whatever their arguments are.
var fixed = readFixed(`
int4: length char_length character_length octet_length bit_length strpos position ascii width_bucket ntile grouping
int8: count row_number rank dense_rank regr_count dp_rows
float8: pi date_part percent_rank cume_dist corr covar_pop covar_samp regr_avgx regr_avgy regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
numeric: extract
text: lower upper btrim ltrim rtrim trim substring substr left right concat concat_ws split_part replace regexp_replace lpad rpad repeat
text: reverse translate chr md5 to_char string_agg
bool: starts_with regexp_like bool_and bool_or every
date: to_date make_date
timestamp: make_timestamp
timestamptz: now transaction_timestamp statement_timestamp clock_timestamp
`)

// alike are functions that give what their first argument is, of any type; behind WITHIN GROUP it
// is what they order by.
var alike = map[string]bool{"any_value": true, "first_value": true, "last_value": true, "nth_value": true, "mode": true,
	"percentile_disc": true, "max_by": true, "min_by": true}

// united are functions whose first argument and third, which is a default, are of one type.
var united = map[string]bool{"lag": true, "lead": true}

// ofAggregate are functions that give what the aggregate gives that is their argument. None of them
// is PostgreSQL's.
var ofAggregate = map[string]bool{"dp_low": true, "dp_high": true, "dp_error": true}

var operators = readOperators()

func readFunctions(text string) map[string][]overload {
	out := map[string][]overload{}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		names, list, _ := strings.Cut(line, ":")
		for _, name := range strings.Fields(names) {
			out[name] = overloads(list)
		}
	}
	return out
}

func readFixed(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		gives, names, _ := strings.Cut(line, ":")
		for _, name := range strings.Fields(names) {
			out[name] = gives
		}
	}
	return out
}

// sizes are the numbers whose operators take two of them.
var sizes = [][]string{{"int2", "int4", "int8"}, {"float4", "float8"}}

// equals are the operators = with the type of the left side, which NULLIF gives.
var equals = readEquals()

func readEquals() []overload {
	out := overloads("numeric,numeric>numeric text,text>text bpchar,bpchar>bpchar bool,bool>bool interval,interval>interval")
	for _, all := range append(sizes, []string{"date", "timestamp", "timestamptz"}) {
		for _, l := range all {
			for _, r := range all {
				out = append(out, overload{[]string{l, r}, l})
			}
		}
	}
	return out
}

// readOperators makes the operators with two sides. Whole numbers of two sizes have operators of
// their own, and so have the two sizes of floating-point numbers.
func readOperators() map[string][]overload {
	out := map[string][]overload{}
	add := func(names, list string) {
		for _, op := range strings.Fields(names) {
			out[op] = append(out[op], overloads(list)...)
		}
	}
	for _, all := range sizes {
		for i, l := range all {
			for j, r := range all {
				add("+ - * /", l+","+r+">"+all[max(i, j)])
			}
		}
	}
	add("+ - * / %", "numeric,numeric>numeric")
	add("% & | #", "int2,int2>int2 int4,int4>int4 int8,int8>int8")
	add("<< >>", "int2,int4>int2 int4,int4>int4 int8,int4>int8")
	add("^", "float8,float8>float8 numeric,numeric>numeric")
	add("+ -", "date,int4>date date,interval>timestamp timestamp,interval>timestamp timestamptz,interval>timestamptz "+
		"interval,interval>interval")
	add("+", "int4,date>date interval,date>timestamp interval,timestamp>timestamp interval,timestamptz>timestamptz")
	add("-", "date,date>int4 timestamp,timestamp>interval timestamptz,timestamptz>interval")
	add("*", "interval,float8>interval float8,interval>interval")
	add("/", "interval,float8>interval")
	add("||", "text,text>text")
	return out
}

// prefixes are the operators with one side.
var prefixes = map[string][]overload{
	"+": overloads("int2>int2 int4>int4 int8>int8 numeric>numeric float4>float4 float8>float8"),
	"-": overloads("int2>int2 int4>int4 int8>int8 numeric>numeric float4>float4 float8>float8 interval>interval"),
	"~": overloads("int2>int2 int4>int4 int8>int8"), "@": functions["abs"], "|/": overloads("float8>float8"),
	"||/": overloads("float8>float8"),
}
