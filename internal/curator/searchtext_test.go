package curator_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/golden"
)

// searcher makes texts, and remembers the worst.
type searcher struct {
	*testing.T
	*rand.Rand
	planners       []*planners
	worst          []cost
	tried, planned int
}

// cost is what planning a text took.
type cost struct {
	draft
	entry, text string
	said        string
	time        time.Duration
	bytes       uint64
}

func (c cost) score() float64 {
	return max(c.time.Seconds()/mostTime.Seconds(), float64(c.bytes)/mostBytes)
}

// draft is a text in fragments, which are changed and crossed.
type draft struct {
	on       *planners
	from     string
	keys     []fragment
	sets     string // ROLLUP, CUBE or nothing
	measures []fragment
	where    []fragment
	above    []fragment // HAVING and ORDER BY
	around   int        // how many SELECTs stand around it
	copies   int        // how many of it are joined
}

// fragment is an expression of a kind.
type fragment struct{ kind, text string }

// next is a new draft, or a change of one that was expensive.
func (s *searcher) next() draft {
	if s.tried < len(searchSeeds) {
		d := draft{on: s.planners[0], copies: 1, from: "t", measures: []fragment{{"measure", "COUNT(*)"}}}
		d.keys = []fragment{searchSeeds[s.tried]}
		return d
	}
	if len(s.worst) == 0 || s.IntN(5) == 0 {
		d := draft{on: s.planners[s.IntN(len(s.planners))], copies: 1}
		d.from = s.source(d.on)
		d.keys, d.measures, d.where = s.some(d.on, 3, s.any), s.some(d.on, 3, s.measured), s.some(d.on, 3, s.condition)
		return d
	}
	d := s.worst[min(s.IntN(len(s.worst)), s.IntN(len(s.worst)))].draft
	for range 1 + s.IntN(3) {
		d = s.change(d)
	}
	return d
}

// searchSeeds are keys that were found to be expensive by hand.
var searchSeeds = []fragment{
	{"truth", "rpad(CAST(n * m AS text), 1000, '" + strings.Repeat("aé", 330) + "') LIKE '" + strings.Repeat("%a", 120) + "b'"},
	{"truth", "rpad(CAST(n + m AS text), 1000, 'a') ~ '((a?){10}){10}b'"},
	{"number", "(n * 2 - m) % 7 + extract(hour from at) * extract(minute from at)"},
	{"text", "left(to_char(at, 'YYYY-MM-DD HH24:MI') || to_char(d, 'Day Month'), 7)"},
	{"truth", "n BETWEEN m AND 7"},
}

// change changes a draft in one place.
func (s *searcher) change(d draft) draft {
	other := s.worst[s.IntN(len(s.worst))].draft
	switch s.IntN(12) {
	case 0:
		d.from = s.source(d.on)
	case 1:
		d.sets = s.pick("", "ROLLUP", "CUBE")
	case 2:
		d.around = s.IntN(6)
	case 3:
		d.copies = 1 + s.IntN(8)
	case 4:
		d.above = s.some(d.on, 3, func(on *planners, depth int) fragment {
			return fragment{"truth", s.measure(on, depth) + " > " + fmt.Sprint(s.IntN(99))}
		})
	case 5: // cross
		if other.on == d.on {
			d.keys = slices.Concat(d.keys, other.keys)
		}
	case 6:
		if other.on == d.on {
			d.where, d.measures = slices.Concat(d.where, other.where), slices.Concat(d.measures, other.measures)
		}
	case 7:
		d.measures = s.mutate(d.on, d.measures, s.measured)
	case 8, 9:
		d.where = s.mutate(d.on, d.where, s.condition)
	default:
		d.keys = s.mutate(d.on, d.keys, s.any)
	}
	return d
}

// mutate changes a list: one more, one fewer, one many times, or one inside of another.
func (s *searcher) mutate(on *planners, list []fragment, make func(*planners, int) fragment) []fragment {
	list = slices.Clone(list)
	if len(list) == 0 {
		return []fragment{make(on, 3)}
	}
	i := s.IntN(len(list))
	f := &list[i]
	switch s.IntN(6) {
	case 0:
		return slices.Delete(list, i, i+1)
	case 1:
		*f = make(on, 4)
	case 2: // many of them, in one
		if joined := manyOf[f.kind]; joined != "" {
			f.text = "(" + strings.TrimSuffix(strings.Repeat(f.text+joined, 2+s.IntN(60)), joined) + ")"
		}
	case 3: // many of them, a little different
		for k := range 1 + s.IntN(12) {
			list = append(list, fragment{f.kind, strings.Replace(f.text, "7", fmt.Sprint(7+k), 1)})
		}
	case 4: // around it
		if all := aroundIt[f.kind]; len(all) > 0 {
			around := all[s.IntN(len(all))]
			f.kind, f.text = around.kind, strings.ReplaceAll(around.text, "#", f.text)
		}
	default:
		list = append(list, make(on, 3))
	}
	return list
}

// manyOf is what stands between many of a kind.
var manyOf = map[string]string{"number": " + ", "text": " || ", "truth": " AND NOT "}

// aroundIt is what can be made of a kind.
var aroundIt = map[string][]fragment{
	"number": {{"number", "(#) % 7"}, {"truth", "(#) BETWEEN 7 AND (#)"}, {"text", "CAST(# AS text)"}, {"number", "abs(#)"},
		{"number", "CASE WHEN (#) > 7 THEN (#) ELSE 7 END"}, {"number", "round((#) / 7.0, 1)"}, {"number", "greatest(#, 7)"}},
	"text": {{"text", "lower(#)"}, {"text", "left(#, 9)"}, {"text", "rpad(#, 997, 'ab')"}, {"number", "length(#)"},
		{"truth", "(#) LIKE '%a%b%7%'"},
		{"truth", "(#) ~ '(a|b)*7.*c'"}, {"text", "replace(left(#, 100), 'a', 'bcdef')"}, {"text", "split_part(#, 'a', 7)"}},
	"truth": {{"truth", "NOT (#)"}, {"number", "CASE WHEN # THEN 7 ELSE 1 END"}, {"text", "CASE WHEN # THEN 'a7' ELSE 'b' END"},
		{"truth", "coalesce(#, false)"}, {"truth", "(#) IS NOT TRUE"}},
	"time": {{"time", "date_trunc('hour', #)"}, {"number", "extract(dow from #)"}, {"text", "to_char(#, 'Day Month HH24')"},
		{"time", "(#) + INTERVAL '7 days'"}, {"number", "extract(minute from #)"},
		{"number", "extract(year from age(DATE '2024-12-31', #))"}},
}

func (s *searcher) some(on *planners, most int, make func(*planners, int) fragment) (out []fragment) {
	for range 1 + s.IntN(most) {
		out = append(out, make(on, 3))
	}
	return out
}

func (s *searcher) pick(from ...string) string { return from[s.IntN(len(from))] }

func (s *searcher) source(on *planners) string {
	t, u := on.dataset.Unit.Table, s.pick(on.others...)
	all := strings.Join(on.all, ", ")
	switch s.IntN(9) {
	case 0:
		return t + " JOIN " + u + " USING (pid)"
	case 1:
		return t + " LEFT JOIN " + u + " USING (pid)"
	case 2:
		return "(SELECT " + all + ", " + s.any(on, 2).text + " AS w7 FROM " + t + " WHERE " + s.truth(on, 2) + ") AS q"
	case 3:
		return "(SELECT " + all + ", row_number() OVER (PARTITION BY pid ORDER BY " + s.any(on, 1).text + ") AS r7 FROM " + t + ") AS q"
	case 4:
		return t + " JOIN (SELECT pid AS pid7, max(" + s.number(on, 2) + ") AS m7 FROM " + t + " GROUP BY pid) AS q ON pid = pid7"
	case 5:
		return "(SELECT " + all + " FROM " + t + " UNION ALL SELECT " + all + " FROM " + t + ") AS q"
	}
	return t
}

func (s *searcher) column(on *planners, kind string) string {
	if all := on.columns[kind]; len(all) > 0 {
		return s.pick(all...)
	}
	return "NULL"
}

func (s *searcher) any(on *planners, depth int) fragment {
	switch s.IntN(4) {
	case 0:
		return fragment{"number", s.number(on, depth)}
	case 1:
		return fragment{"text", s.text(on, depth)}
	case 2:
		return s.condition(on, depth)
	}
	return fragment{"time", s.time(on, depth)}
}

func (s *searcher) condition(on *planners, depth int) fragment {
	return fragment{"truth", s.truth(on, depth)}
}

func (s *searcher) measured(on *planners, depth int) fragment {
	return fragment{"measure", s.measure(on, depth)}
}

func (s *searcher) measure(on *planners, depth int) string {
	return fmt.Sprintf(s.pick("COUNT(*)", "COUNT(DISTINCT %s)", "SUM(%s)", "AVG(%s)", "MEDIAN(%s)", "STDDEV(%s)", "MAX(%s)",
		"COUNT(*) FILTER (WHERE %[2]s)", "PERCENTILE_CONT(0.7) WITHIN GROUP (ORDER BY %s)")+"%.0[1]s%.0[2]s",
		s.number(on, depth-1), s.truth(on, depth-1))
}

func (s *searcher) number(on *planners, depth int) string {
	if depth <= 0 {
		return s.column(on, "number")
	}
	x, y := s.number(on, depth-1), s.number(on, depth-1)
	return fmt.Sprintf(s.pick("%s", "(%s + %s)", "(%s - %s)", "(%s * %s) %% 7", "(%s %% 7)", "abs(%s)", "round(%s, 1)", "floor(%s / 7.5)",
		"width_bucket(%s, 0, 100, 70)", "greatest(%s, %s, 7)", "nullif(%s, %s)", "length(%[3]s)", "strpos(%[3]s, 'a7')",
		"CASE WHEN %[4]s THEN %[1]s ELSE %[2]s END", "extract(day from %[5]s)", "extract(minute from %[5]s)", "extract(dow from %[5]s)",
		"CAST(%[3]s AS integer)", "power(%s, 7)", "ln(%s)")+"%.0[1]s%.0[2]s%.0[3]s%.0[4]s%.0[5]s", x, y, s.text(on, depth-1),
		s.truth(on, depth-1),
		s.time(on, depth-1))
}

func (s *searcher) text(on *planners, depth int) string {
	if depth <= 0 {
		return s.column(on, "text")
	}
	x := s.text(on, depth-1)
	return fmt.Sprintf(s.pick("%s", "lower(%s)", "left(%s, 97)", "right(%s, 97)", "rpad(%s, 997, %[2]s)", "lpad(%s, 1000, 'é7')",
		"left(%s, 300) || left(%[3]s, 600)", "replace(left(%s, 7), 'a', %[2]s)", "split_part(%s, 'a', 7)", "btrim(%s, 'abc')",
		"CAST(%[4]s AS text)", "to_char(%[5]s, 'YYYY-MM-DD HH24:MI Day Month')", "CASE WHEN %[6]s THEN %[1]s ELSE %[3]s END",
		"concat_ws('-', left(%s, 300), left(%[3]s, 300))", "upper(%s)", "coalesce(%s, %[3]s)")+
		"%.0[1]s%.0[2]s%.0[3]s%.0[4]s%.0[5]s%.0[6]s", x,
		"'"+strings.Repeat(s.pick("a", "ab", "é", "xyz"), 1+s.IntN(300))+"'", s.text(on, depth-1), s.number(on, depth-1),
		s.time(on, depth-1),
		s.truth(on, depth-1))
}

func (s *searcher) truth(on *planners, depth int) string {
	if depth <= 0 {
		return s.column(on, "truth")
	}
	list := make([]string, 1+s.IntN(200))
	for i := range list {
		list[i] = fmt.Sprint(s.IntN(999))
	}
	pattern := strings.Repeat(s.pick("%a", "_", "%ab", "a%", "%_7"), 1+s.IntN(80))
	expression := strings.Repeat(s.pick("a*", "(a|b)", ".*a", "[a-z]+7", "(x+x+)+", "a?"), 1+s.IntN(40))
	return fmt.Sprintf(s.pick("%s > 7", "%s IN (%[6]s)", "%[3]s LIKE '%[7]s'", "%[3]s ILIKE '%[7]s'", "%[3]s ~ '%[8]s'",
		"%[3]s SIMILAR TO '%[8]s'", "%[3]s IN ('alpha', 'beta', '7')", "NOT (%[4]s)", "(%[4]s AND %[5]s)", "(%[4]s OR %[5]s)",
		"%[2]s IS NULL", "%s BETWEEN 7 AND %[2]s", "%[9]s > '1977-07-07'", "pid IN (SELECT pid FROM v WHERE %[4]s)", "%s = %[2]s")+
		"%.0[1]s%.0[2]s%.0[3]s%.0[4]s%.0[5]s%.0[6]s%.0[7]s%.0[8]s%.0[9]s",
		s.number(on, depth-1), s.number(on, depth-1), s.text(on, depth-1), s.truth(on, depth-1), s.truth(on, depth-1),
		strings.Join(list, ", "), pattern, expression, s.time(on, depth-1))
}

func (s *searcher) time(on *planners, depth int) string {
	if depth <= 0 {
		return s.column(on, "time")
	}
	return fmt.Sprintf(s.pick("%s", "date_trunc('hour', %s)", "date_trunc('month', %s)", "CAST(%s AS date)", "(%s + INTERVAL '7 days')",
		"date_bin(INTERVAL '7 minutes', %s, TIMESTAMP '1970-01-01 00:07:00')", "(%s + INTERVAL '1 month')",
		"CASE WHEN %[2]s THEN %[1]s END")+"%.0[1]s%.0[2]s", s.time(on, depth-1), s.truth(on, depth-1))
}

// join writes fragments with something between them.
func join(all []fragment, between string) string {
	texts := make([]string, len(all))
	for i, f := range all {
		texts[i] = f.text
	}
	return strings.Join(texts, between)
}

func (d draft) write(entry string) string {
	keys := join(d.keys, ", ")
	var b strings.Builder
	switch entry {
	case "rows":
		b.WriteString("SELECT " + join(append(slices.Clone(d.keys), fragment{text: "n"}), ", ") + " FROM " + d.from)
	case "holdout":
		b.WriteString("SELECT holdout_mean(" + join(d.keys, " AND ") + ", 0.5) FROM " + d.from)
	default:
		b.WriteString("SELECT " + join(d.measures, ", ") + " FROM " + d.from)
	}
	if len(d.where) > 0 {
		b.WriteString(" WHERE " + join(d.where, " AND "))
	}
	aggregated := entry != "rows" && entry != "holdout"
	if len(d.keys) > 0 && aggregated {
		if d.sets != "" {
			keys = d.sets + " (" + keys + ")"
		}
		b.WriteString(" GROUP BY " + keys)
	}
	if len(d.above) > 0 && aggregated {
		b.WriteString(" HAVING " + join(d.above, " AND ") + " ORDER BY " + join(d.above, ", "))
	}
	text := b.String()
	if d.copies > 1 && entry != "holdout" {
		all := make([]string, d.copies)
		for i := range all {
			all[i] = "(" + strings.Replace(text, "7", fmt.Sprint(7+i), 1) + ") AS a" + fmt.Sprint(i)
		}
		text = "SELECT * FROM " + strings.Join(all, ", ")
	}
	for i := range d.around {
		if entry == "holdout" {
			break
		}
		text = fmt.Sprintf("SELECT *, 7 FROM (%s) AS o%d WHERE 7 > 1", text, i)
	}
	return text
}

// try plans a draft, and keeps it where it is among the worst.
func (s *searcher) try(d draft) {
	entry := s.pick("describe", "explain", "explain", "rows", "parameters", "holdout")
	text := d.write(entry)
	if len(text) > 64<<10 || len(d.keys)+len(d.measures)+len(d.where) > 200 {
		return
	}
	s.tried++
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := golden.CPUTime(s)
	err := d.on.plan(entry, text)
	c := cost{draft: d, entry: entry, text: text, said: fmt.Sprint(err), time: golden.CPUTime(s) - start}
	runtime.ReadMemStats(&after)
	c.bytes = after.TotalAlloc - before.TotalAlloc
	if err == nil {
		s.planned++
	}
	if c.score() > 1 {
		s.Logf("after %d texts: %v, %d MB, at %s, %d bytes: %.100s", s.tried, c.time, c.bytes>>20, entry, len(text), c.said)
	}
	alike := func(w cost) bool {
		return w.entry == entry && w.said[:min(30, len(w.said))] == c.said[:min(30, len(c.said))]
	}
	if i := slices.IndexFunc(s.worst, alike); i >= 0 && slices.ContainsFunc(s.worst, func(w cost) bool { return w.text == text }) {
		return
	}
	s.worst = append(s.worst, c)
	slices.SortStableFunc(s.worst, func(a, b cost) int { return cmp.Compare(b.score(), a.score()) })
	kept := 0
	s.worst = slices.DeleteFunc(s.worst, func(w cost) bool { // a few of each kind, so that one does not drive out all others
		if alike(w) {
			kept++
		}
		return alike(w) && kept > 6
	})
	s.worst = s.worst[:min(60, len(s.worst))]
}
