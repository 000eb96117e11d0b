package duckdb

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/engine/contribution"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// boundedQuery is a question on its way through package contribution: the rows that DuckDB reads,
// and what each of its columns is. What one person adds is clamped there, at the last place before
// it is summed, to what noise is calibrated to, whatever DuckDB computed. The same question as one
// SQL statement is in package sqlgen (statement.go), which is many times slower for people with
// many rows.
type boundedQuery struct {
	query chunks.Query
	spec  contribution.Spec
	// people says that the first column is whose a row is: somebody may have several.
	people bool
	keys   []keyColumn
	// The column of each measure's values; -1 where it has none. Present says that being there is
	// what counts.
	values  []int
	present []bool
	clamps  map[int]*policy.Bounds // by column, what is left to clamp
	carried carrier                // of questions that pick rows
	private *foundGroups           // of questions with private keys
	open    []*chunks.Keys
	names   *names // who the people are, where the first column is their numbers
}

// errNotBulk says that a question has to be asked as one SQL statement.
var errNotBulk = errors.New("duckdb: this question is not for package bound")

// newBounded prints some measures of a question without private keys. It has to be closed.
func (s *snapshot) newBounded(q *tree.Query, measures []int) (*boundedQuery, error) {
	b, p, err := s.newKeyed(q, nil)
	if err != nil {
		return nil, err
	}
	b.addMeasures(p, q, measures)
	b.from(p, q.Where)
	return b, nil
}

// newKeyed prints whose a row is and its keys. It has to be closed where there is no error.
func (s *snapshot) newKeyed(q *tree.Query, found *foundGroups) (_ *boundedQuery, _ *sqlgen.Printer, err error) {
	from := withoutSort(q.From)
	p := s.Print(from)
	b := &boundedQuery{people: q.Bounded(), clamps: map[int]*policy.Bounds{}}
	b.spec.Groups, b.spec.MaxGroups = q.Groups(), int(q.MaxGroups())
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if q.Groups() < 1 || !b.limit(s, s.ordered(q, from), q.Hash()) || b.people && !b.addUnit(s, p, from) {
		return nil, nil, errNotBulk
	}
	for _, k := range q.PublicKeys() {
		b.addKey(s, p, k)
	}
	for _, k := range q.PrivateKeys() {
		b.query.Columns = append(b.query.Columns, p.Key(k))
	}
	if b.private = found; found != nil {
		b.spec.Groups, b.spec.Private = found.len(), found.spec()
	}
	return b, p, nil
}

// limit sets what is the same for all questions; ordered is the table whose order they try, or nil.
// It reports whether the salt is one.
func (b *boundedQuery) limit(s *snapshot, ordered *table, hash string) bool {
	b.spec.Memory, b.spec.Unordered = s.memory, s.unordered || ordered == nil
	if !b.spec.Unordered {
		b.spec.Order = ordered.order
	}
	salt, err := hex.DecodeString(hash)
	return err == nil && copy(b.spec.Salt[:], salt) == len(b.spec.Salt)
}

// from prints where the rows come from. It comes last, when all that is used is known.
func (b *boundedQuery) from(p *sqlgen.Printer, where tree.Expr) {
	var conditions []string
	if where != nil {
		conditions = append(conditions, p.Row.Expr(where))
	}
	b.query.From, b.query.Args = p.FromClause(conditions...), p.Args
}

func (b *boundedQuery) close() {
	for _, k := range b.open {
		k.Close()
	}
}

// addUnit prints whose a row is: as it is stored, or as a number that stands for it.
func (b *boundedQuery) addUnit(s *snapshot, p *sqlgen.Printer, from tree.Relation) bool {
	kind := s.Kinds[from.Fields()[from.Unit()].Identity]
	if b.spec.Rows = s.rowsOf(from); isNamed(kind) {
		b.spec.Width = publictime.NameLength
	}
	if isNamed(kind) && !b.spec.Unordered {
		if number, table := p.Number(); number != "" {
			b.names, b.spec.Names = s.tables[table].names, s.tables[table].names.of
			b.query.Columns = []string{number}
			return true
		}
	}
	who, ok := bulkUnit(p.Unit(), kind)
	b.query.Columns = []string{who}
	return ok && !s.ByRow
}

// codePlaces returns the place of each code among a question's keys, with those of NULL and of
// other texts in front, or nothing where its texts have no codes.
func (s *snapshot) codePlaces(p *sqlgen.Printer, k tree.Key, null int32) []int32 {
	table, column := p.Row.Coded(k.Expr)
	if table == "" {
		return nil
	}
	codes := s.tables[table].coded[column]
	places := slices.Repeat([]int32{-1}, len(codes)-codeOfNull)
	places[0] = null
	for i, v := range k.Values {
		if v.Null {
			continue
		}
		code, ok := codes[v.Text]
		if !ok {
			return nil // it became a key later
		}
		places[code-codeOfNull] = int32(i)
	}
	return places
}

func (b *boundedQuery) addKey(s *snapshot, p *sqlgen.Printer, k tree.Key) {
	column := keyColumn{size: len(k.Values), null: -1}
	for i, v := range k.Values {
		if v.Null {
			column.null = int32(i)
		}
	}
	if column.codes = s.codePlaces(p, k, column.null); column.codes != nil {
		b.query.Columns, b.keys = append(b.query.Columns, p.Row.Code(k.Expr)), append(b.keys, column)
		return
	}
	text := p.Key(k)
	if k.Expr.Type().Kind == tree.Text {
		keys := chunks.NewKeys(textPositions(k.Values), column.null)
		b.open = append(b.open, keys)
		text = printKeyIndex(keys, text)
	} else {
		column.places = newKeyIndex(k.Values)
	}
	b.query.Columns = append(b.query.Columns, text)
	b.keys = append(b.keys, column)
}

// addMeasures prints what measures are of. Behind them come counts that sums are scaled by, where
// they are not among them.
func (b *boundedQuery) addMeasures(p *sqlgen.Printer, q *tree.Query, measures []int) {
	printed := map[string]int{}
	for _, m := range measures {
		if b.people && q.Measures[m].Kind == tree.Sum { // first, so that counts find their columns
			b.sumColumn(p, q.Measures[m], printed)
		}
	}
	for _, m := range measures {
		b.addMeasure(p, q, q.Measures[m], printed)
	}
	if !b.people {
		return // a person has one row
	}
	for i, m := range measures {
		if by := q.Measures[m]; by.Scaled != tree.Unscaled {
			b.spec.Measures[i].Scale, b.spec.Measures[i].By = q.MaxRows(), b.countFor(p, q, by, printed)
		}
	}
}

// countFor returns the place of the count that a sum is scaled by, of all rows or of those with a
// value.
func (b *boundedQuery) countFor(p *sqlgen.Printer, q *tree.Query, sum tree.Measure, printed map[string]int) int {
	count := tree.Measure{Kind: tree.CountRows}
	if sum.Scaled == tree.ByValues {
		count = tree.Measure{Kind: tree.CountValues, Arg: sum.Arg}
	}
	kind, column := measureKind(count), printed["null "+tree.Format(nullsOf(sum.Arg))]
	for i, m := range b.spec.Measures {
		if m.Kind == kind && (kind == contribution.Rows || b.values[i] == column) {
			return i
		}
	}
	b.addMeasure(p, q, count, printed)
	return len(b.spec.Measures) - 1
}

// addMeasure prints what a measure is of. A sum and a count of the same are one column: its values,
// and where it is not NULL.
func (b *boundedQuery) addMeasure(p *sqlgen.Printer, q *tree.Query, m tree.Measure, printed map[string]int) {
	out := contribution.Measure{Kind: measureKind(m)}
	out.Lo, out.Hi = q.Interval(m)
	column := -1
	switch {
	case m.Kind == tree.Sum:
		out.Reach = maxMagnitude(m.Arg.Type())
		column = b.sumColumn(p, m, printed)
	case !b.people && m.Kind == tree.CountPersons && !p.ByRow:
		// Where nobody has several rows, one without a unit is not a person, as SQL's count says
		// too.
		out.Kind = contribution.Values
		column = b.column(m.Format(), printed, func() string {
			there := p.Unit() + " IS NOT NULL"
			if m.Arg != nil {
				there += " AND " + p.Row.Expr(m.Arg) + " IS NOT NULL"
			}
			return trueOrNull(there)
		})
	case m.Arg != nil:
		column = b.column("null "+tree.Format(nullsOf(m.Arg)), printed, func() string {
			return trueOrNull("(" + p.Row.Expr(m.Arg) + ") IS NOT NULL")
		})
	}
	b.spec.Measures = append(b.spec.Measures, out)
	b.values = append(b.values, column)
	b.present = append(b.present, m.Kind != tree.Sum)
}

// sumColumn is the column of what is added up. What is NULL where it is can be counted in it.
func (b *boundedQuery) sumColumn(p *sqlgen.Printer, m tree.Measure, printed map[string]int) int {
	column := b.column("sum "+tree.Format(m.Arg), printed, func() string { return b.summed(p, m.Arg) })
	if name := "null " + tree.Format(nullsOf(m.Arg)); printed[name] == 0 {
		printed[name] = column
	}
	return column
}

// nullsOf is a part of an expression that is NULL where the whole of it is: what a distance from a
// constant, a square or a number in other steps is of. Were it wrong, other rows would be counted;
// what a person adds to a count is clamped all the same.
func nullsOf(e tree.Expr) tree.Expr {
	switch x := e.(type) {
	case *tree.Arith:
		if l, constant := x.R.(*tree.Literal); constant && !l.IsNullLiteral() && (x.Op == tree.Sub || x.Op == tree.Add) {
			return nullsOf(x.L)
		}
		if x.Op == tree.Mul && tree.Format(x.L) == tree.Format(x.R) {
			return nullsOf(x.L)
		}
	case *tree.Rescale:
		return nullsOf(x.X)
	}
	return e
}

// column returns the place of a column, which is printed once.
func (b *boundedQuery) column(name string, printed map[string]int, print func() string) int {
	if at, ok := printed[name]; ok {
		return at
	}
	text := print()
	printed[name] = len(b.query.Columns)
	b.query.Columns = append(b.query.Columns, text)
	return printed[name]
}

// summed prints what is added up. A column of a table is read as it is stored, and clamped to its
// bounds in Go, which is faster.
func (b *boundedQuery) summed(p *sqlgen.Printer, arg tree.Expr) string {
	if text, bounds := p.Row.Unclamped(arg); bounds != nil {
		b.clamps[len(b.query.Columns)] = bounds
		return text
	}
	return p.Row.Cast(arg, "BIGINT")
}

func trueOrNull(condition string) string { return "nullif(" + condition + ", false)" }

// maxMagnitude is the largest magnitude of a number, which is proven to fit in 53 bits.
func maxMagnitude(t tree.Type) int64 {
	lo, hi := new(big.Int).Abs(t.Lo), new(big.Int).Abs(t.Hi)
	if !lo.IsInt64() || !hi.IsInt64() {
		return math.MaxInt64
	}
	return max(lo.Int64(), hi.Int64())
}

// run computes the totals: for each measure one integer per group.
func (b *boundedQuery) run(ctx context.Context, source chunks.Database) ([][]int64, error) {
	return b.runWith(ctx, source, func() {})
}

// runWith also says when the rows are read, once or more.
func (b *boundedQuery) runWith(ctx context.Context, source chunks.Database, reading func()) ([][]int64, error) {
	run := contribution.Singles
	if b.people {
		run = contribution.Run
	}
	return run(ctx, b.spec, b.readRows(ctx, source, reading))
}

func (b *boundedQuery) readRows(ctx context.Context, source chunks.Database, reading func()) contribution.BatchReader {
	pool := sync.Pool{New: func() any { return &batch{} }}
	return func(take func(*contribution.Batch) error) error {
		reading()
		return source.Each(ctx, b.query, func(c *chunks.Chunk) error {
			w := pool.Get().(*batch)
			defer pool.Put(w)
			if !w.read(b, c) {
				return errNotBulk
			}
			return take(&w.Batch)
		})
	}
}

// measureKind says what package contribution calls a measure. People with a row that fits are those
// with a partial of 1.
func measureKind(m tree.Measure) contribution.Kind {
	switch {
	case m.Kind == tree.Sum:
		return contribution.Sum
	case m.Arg != nil:
		return contribution.Values
	case m.Kind == tree.CountPersons:
		return contribution.People
	}
	return contribution.Rows
}

// bulkUnit prints the unit so that equal people are equal bits, and others are not: as it is, or as
// a text that is another for another value. There are types of which that cannot be said, such as
// DOUBLE.
func bulkUnit(unit, typ string) (string, bool) {
	base, _, _ := strings.Cut(typ, "(")
	switch {
	case strings.HasSuffix(typ, "]"):
		return "", false // a list
	case base == "ENUM" || base == "DECIMAL":
		return "CAST(" + unit + " AS VARCHAR)", true
	}
	switch base {
	case "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT",
		"UUID",
		"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "VARCHAR", "BLOB":
		return unit, true
	}
	return "", false
}

// carrier reads what stays with a row on its way through package contribution, for measures that
// pick rows and do not add them up.
type carrier interface {
	measures() []contribution.Measure
	// carry fills a column for every measure. It reports whether the chunk's is what was asked for.
	carry(w *batch, c *chunks.Chunk, out [][]int64) bool
}

// newCarrier prints a value. It returns nil where it is of a type that is left to SQL.
func (b *boundedQuery) newCarrier(p *sqlgen.Printer, m tree.Measure) carrier {
	col := len(b.query.Columns)
	t := m.Arg.Type()
	text, lo, hi := "", int64(0), int64(1)
	switch {
	case t.Kind == tree.Boolean:
		text = p.Row.Expr(m.Arg)
	case m.Kind == tree.CountDistinct && (t.Wide() || t.Kind == tree.Text):
		b.query.Columns = append(b.query.Columns, p.Row.Expr(m.Arg))
		return &textHashes{col, contribution.NewHash(b.spec.Salt)}
	case t.Kind != tree.Number && t.Kind != tree.Date && t.Kind != tree.Timestamp || t.Lo == nil || t.Hi == nil:
		return nil
	default:
		lo, hi = t.Lo.Int64(), t.Hi.Int64()
		var known bool
		if text, known = b.stored(p, m.Arg, lo, hi); !known {
			text = tryCast(p.Row.Expr(m.Arg), "BIGINT")
		}
	}
	b.query.Columns = append(b.query.Columns, text)
	if uint64(hi)-uint64(lo) < math.MaxInt32-1 {
		return &narrowNumbers{col, lo, hi}
	}
	return &wideNumbers{col, lo, hi}
}

// stored prints a column as it is stored, where nothing is left to do but to clamp it.
func (b *boundedQuery) stored(p *sqlgen.Printer, arg tree.Expr, lo, hi int64) (string, bool) {
	text, bounds := p.Row.Unclamped(arg)
	return text, bounds != nil && bounds.LoSteps == lo && bounds.HiSteps == hi
}

// narrowNumbers are numbers of an interval of 31 bits. The lowest is 1, and 0 is NULL.
type narrowNumbers struct {
	col    int
	lo, hi int64
}

func (n *narrowNumbers) measures() []contribution.Measure {
	return []contribution.Measure{{Kind: contribution.Carried, Reach: n.hi - n.lo + 1}}
}

func (n *narrowNumbers) carry(_ *batch, c *chunks.Chunk, out [][]int64) bool {
	if !c.Clamped(n.col, out[0], n.lo, n.hi) {
		return false
	}
	first := n.lo - 1
	for i := range out[0] {
		out[0][i] -= first
	}
	eachNull(c.Valid(n.col), c.Len(), func(i int) { out[0][i] = 0 })
	return true
}

// wideNumbers are numbers of 64 bits, with a flag.
type wideNumbers struct {
	col    int
	lo, hi int64
}

func (n *wideNumbers) measures() []contribution.Measure {
	return []contribution.Measure{{Kind: contribution.Carried, Reach: 1}, {Kind: contribution.Carried, Reach: math.MaxInt64}}
}

func (n *wideNumbers) carry(_ *batch, c *chunks.Chunk, out [][]int64) bool {
	if !c.Clamped(n.col, out[1], n.lo, n.hi) {
		return false
	}
	flagRows(c, n.col, out)
	return true
}

// flagRows marks rows that have a value. Without one all of its columns are 0.
func flagRows(c *chunks.Chunk, col int, out [][]int64) {
	for i := range out[0] {
		out[0][i] = 1
	}
	eachNull(c.Valid(col), c.Len(), func(i int) {
		for _, values := range out {
			values[i] = 0
		}
	})
}

// textHashes are of texts, and integers of 128 bits.
type textHashes struct {
	col  int
	hash *contribution.Hash
}

func (n *textHashes) measures() []contribution.Measure {
	whole := contribution.Measure{Kind: contribution.Carried, Reach: math.MaxInt64}
	return []contribution.Measure{{Kind: contribution.Carried, Reach: 1}, whole, whole}
}

func (n *textHashes) carry(_ *batch, c *chunks.Chunk, out [][]int64) bool {
	texts, ok := c.Texts(n.col, nil)
	if !ok {
		return false
	}
	for i, text := range texts {
		out[1][i], out[2][i] = n.hash.Of(text)
	}
	flagRows(c, n.col, out)
	return true
}

// carry reads the values of a chunk, with room that is returned. There are none where the chunk is
// not what was asked for.
func (w *batch) carry(c *chunks.Chunk, from carrier, room [][]int64) [][]int64 {
	n, width := c.Len(), len(from.measures())
	room = slices.Grow(room[:0], width)[:width]
	for m := range room {
		room[m] = slices.Grow(room[m][:0], n)[:n]
	}
	if w.Values = room; !from.carry(w, c, room) {
		w.Values = nil
	}
	return room
}
