package duckdb

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/engine/duckdb/internal/stream"
	"github.com/discreet-dp/discreet/internal/bound"
	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// bounded is a question about people with many rows, on its way through package bound: the rows that DuckDB
// reads, and what each of its columns is. The same question as one SQL statement is in person.go,
// which is many times slower.
type bounded struct {
	query stream.Query
	spec  bound.Spec
	keys  []keyColumn
	// The column of each measure's values; -1 where it has none. Present says that being there is what counts.
	values  []int
	present []bool
	clamps  map[int]*policy.Bounds // by column, what is left to clamp
	open    []*stream.Keys
}

// errShape says that a question has to be asked as one SQL statement.
var errShape = errors.New("duckdb: not a question for package bound")

// newBounded prints some measures of a question. It has to be closed.
func (s *snapshot) newBounded(q *plan.Query, measures []int) (_ *bounded, err error) {
	unit := q.From.Fields()[q.From.Unit()]
	p := &printer{snapshot: s}
	from := p.frame(q.From)
	p.row = tuple{from}
	who, ok := inBulk(from.field(q.From.Unit()), s.kinds[unit.Identity])
	if !ok || s.byRow || q.Groups() < 1 {
		return nil, errShape
	}
	// Where people are cut nothing is in order any more, and to start again would cut them again.
	unordered := s.unordered || q.Joined() > 0
	b := &bounded{clamps: map[int]*policy.Bounds{}, spec: bound.Spec{Groups: q.Groups(), MaxGroups: int(q.MaxGroups()), Memory: s.memory, Unordered: unordered}}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	salt, err := hex.DecodeString(q.Hash())
	if err != nil || copy(b.spec.Salt[:], salt) != len(b.spec.Salt) {
		return nil, errShape
	}
	b.query.Columns = []string{who}
	for _, k := range q.Keys {
		b.addKey(p, k)
	}
	printed := map[string]int{}
	for _, m := range measures {
		b.addMeasure(p, q, q.Measures[m], printed)
	}
	where := ""
	if q.Where != nil {
		where = " WHERE " + p.expr(q.Where)
	}
	b.query.From, b.query.Args = p.from(from)+where, p.args
	return b, nil
}

func (b *bounded) close() {
	for _, k := range b.open {
		k.Close()
	}
}

func (b *bounded) addKey(p *printer, k plan.Key) {
	column := keyColumn{size: len(k.Values), null: -1}
	for i, v := range k.Values {
		if v.Null {
			column.null = int32(i)
		}
	}
	text := p.key(k)
	if k.Expr.Type().Kind == plan.Text {
		keys := stream.NewKeys(textPlaces(k.Values), column.null)
		b.open = append(b.open, keys)
		text = fmt.Sprintf("discreet_key(%d::BIGINT, %s)", keys.ID, text)
	} else {
		column.places = newPlaces(k.Values)
	}
	b.query.Columns = append(b.query.Columns, text)
	b.keys = append(b.keys, column)
}

func (b *bounded) addMeasure(p *printer, q *plan.Query, m plan.Measure, printed map[string]int) {
	out := bound.Measure{Kind: kindOf(m)}
	out.Lo, out.Hi = q.Interval(m)
	column := -1
	if m.Arg != nil {
		// A sum and a count of the same are one column: its values, and where it is not NULL.
		name := plan.Format(m.Arg)
		sum := name
		if m.Kind == plan.Sum {
			sum = "sum " + name
			t := m.Arg.Type()
			larger := new(big.Int).Abs(t.Lo)
			if t.Hi.CmpAbs(larger) > 0 {
				larger.Abs(t.Hi)
			}
			out.Reach = larger.Int64() // proven to fit in 53 bits
		} else if _, ok := printed["sum "+name]; ok {
			sum = "sum " + name
		}
		at, ok := printed[sum]
		if !ok {
			var text string
			var clamp *policy.Bounds
			if c, ok := m.Arg.(*plan.Column); ok && m.Kind == plan.Sum && p.scans(c) {
				text, clamp = p.row[0].unclamped(c.Index), c.Field.Source.Bounds
			} else if text = p.expr(m.Arg); m.Kind == plan.Sum {
				text = "CAST(" + text + " AS BIGINT)"
			} else {
				text = "nullif((" + text + ") IS NOT NULL, false)" // true, or NULL
			}
			at = len(b.query.Columns)
			printed[sum] = at
			b.query.Columns = append(b.query.Columns, text)
			b.clamps[at] = clamp
		}
		column = at
	}
	b.spec.Measures = append(b.spec.Measures, out)
	b.values = append(b.values, column)
	b.present = append(b.present, m.Kind != plan.Sum)
}

// run computes the totals: for each measure one integer per group.
func (b *bounded) run(ctx context.Context, source stream.Source) ([][]int64, error) {
	return b.runWith(ctx, source, func() {})
}

// runWith also says when the rows are read, once or more.
func (b *bounded) runWith(ctx context.Context, source stream.Source, reading func()) ([][]int64, error) {
	pool := sync.Pool{New: func() any { return &batch{} }}
	return bound.Run(ctx, b.spec, func(take func(*bound.Batch) error) error {
		reading()
		return source.Each(ctx, b.query, func(c *stream.Chunk) error {
			w := pool.Get().(*batch)
			defer pool.Put(w)
			if !w.read(b, c) {
				return errShape
			}
			return take(&w.Batch)
		})
	})
}

// kindOf says what package bound calls a measure. People with a row that fits are those with a partial of 1.
func kindOf(m plan.Measure) bound.Kind {
	switch {
	case m.Kind == plan.Sum:
		return bound.Sum
	case m.Arg != nil:
		return bound.Values
	case m.Kind == plan.CountPersons:
		return bound.People
	}
	return bound.Rows
}

// scans reports whether a column is a number of a table that is read as it is, with bounds.
func (p *printer) scans(c *plan.Column) bool {
	f, _ := p.row.frame(c.Index)
	scan, ok := f.relation.(*plan.Scan)
	return ok && len(scan.Table.Path) <= 1 && c.Field.Source != nil && c.Field.Source.Bounds != nil && c.Field.Type.Kind == plan.Number
}

// inBulk prints the unit so that equal people are equal bits, and others are not: as it is, or as
// a text that is another for another value. There are types of which that cannot be said, such as DOUBLE.
func inBulk(unit, typ string) (string, bool) {
	base, _, _ := strings.Cut(typ, "(")
	switch {
	case strings.HasSuffix(typ, "]"):
		return "", false // a list
	case base == "ENUM" || base == "DECIMAL":
		return "CAST(" + unit + " AS VARCHAR)", true
	}
	switch base {
	case "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT", "UUID",
		"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "VARCHAR", "BLOB":
		return unit, true
	}
	return "", false
}
