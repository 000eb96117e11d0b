package postquery

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// Describe returns the columns that a statement of Check has over tables of these columns. It does
// not run it: rows are not looked at. What DuckDB would not run is a *api.Refusal.
func Describe(ctx context.Context, text string, tables []Table) ([]Column, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Time, ErrTime)
	defer cancel()
	empty := make([]Table, len(tables))
	for i, t := range tables {
		empty[i] = Table{Name: t.Name, Columns: t.Columns}
	}
	in, err := open(ctx, empty)
	if err != nil {
		return nil, err
	}
	defer in.close()
	var out []Column
	err = in.conn.Raw(func(c any) error {
		out, err = describe(ctx, c, text)
		return err
	})
	if err = in.explain(err); err != nil {
		if around := (*api.AroundError)(nil); errors.As(err, &around) {
			err = syntax.Refuse(syntax.BadText, -1, "", "%s", around.Text) // of constants: nothing else was looked at
		}
		return nil, err
	}
	return out, nil
}

// explain says why one of our functions failed, of which DuckDB has only the text.
func (in *instance) explain(err error) error {
	if err == nil || in.made.err == nil {
		return err
	}
	if err := in.made.err; isText(err) {
		return &api.AroundError{Text: "the outer query stopped: " + err.Error()}
	}
	return in.made.err
}

// failure is for what goes wrong while a statement runs.
func (in *instance) failure(ctx context.Context, err error) error {
	return in.explain(failure(ctx, err))
}

func describe(ctx context.Context, conn any, text string) ([]Column, error) {
	c, ok := conn.(*driver.Conn)
	if !ok {
		return nil, errStart
	}
	prepared, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, refusal(ctx, err)
	}
	defer prepared.Close()
	s, ok := prepared.(*driver.Stmt)
	if !ok {
		return nil, errStart
	}
	if kind, err := s.StatementType(); err != nil || kind != driver.STATEMENT_TYPE_SELECT {
		return nil, syntax.Refuse(syntax.Unsupported, -1, "write a SELECT", "the query around the released results is not a SELECT")
	}
	n, err := s.ColumnCount()
	if err != nil {
		return nil, refusal(ctx, err)
	}
	if n > MaxColumns {
		return nil, syntax.Refuse(syntax.TooComplex, -1, "", "%v", errColumns)
	}
	out := make([]Column, n)
	for i := range out {
		info, err := s.ColumnTypeInfo(i)
		if err != nil {
			return nil, refusal(ctx, err)
		}
		if out[i].Name, err = s.ColumnName(i); err != nil {
			return nil, refusal(ctx, err)
		}
		if err := out[i].typed(info); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// resultKinds are the types that a result may have.
var resultKinds = map[driver.Type]Kind{
	driver.TYPE_BOOLEAN: Boolean, driver.TYPE_TINYINT: Integer, driver.TYPE_SMALLINT: Integer, driver.TYPE_INTEGER: Integer,
	driver.TYPE_BIGINT:   Integer,
	driver.TYPE_UTINYINT: Integer, driver.TYPE_USMALLINT: Integer, driver.TYPE_UINTEGER: Integer, driver.TYPE_UBIGINT: Integer,
	driver.TYPE_HUGEINT: Integer, driver.TYPE_UHUGEINT: Integer, driver.TYPE_FLOAT: Real, driver.TYPE_DOUBLE: Real,
	driver.TYPE_VARCHAR: Text,
	driver.TYPE_DATE:    Date, driver.TYPE_TIMESTAMP: Timestamp, driver.TYPE_DECIMAL: Decimal, driver.TYPE_SQLNULL: Text,
}

// smallerTypes are the types that PostgreSQL has beside those that a kind mostly has.
var smallerTypes = map[driver.Type]string{driver.TYPE_SMALLINT: "int2", driver.TYPE_INTEGER: "int4", driver.TYPE_FLOAT: "float4"}

func (c *Column) typed(info driver.TypeInfo) error {
	kind, ok := resultKinds[info.InternalType()]
	if d, is := info.Details().(*driver.StructDetails); is {
		c.Type, ok = madeType(d)
		c.Kind = Text
		if ok {
			return nil
		}
	}
	if !ok {
		return syntax.Refuse(syntax.Unsupported, -1, "cast it, as in CAST(x AS text)",
			"the column %s of the answer has a type that cannot be shown", quote(c.Name))
	}
	c.Kind = kind
	c.Type = smallerTypes[info.InternalType()]
	if d, ok := info.Details().(*driver.DecimalDetails); ok && kind == Decimal {
		c.Decimals = int(d.Scale)
	}
	return nil
}

// madeType is PostgreSQL's name of the type of what we made.
func madeType(d *driver.StructDetails) (string, bool) {
	switch names := map[string]string{jsonField: "json", jsonbField: "jsonb", textField: "text"}; {
	case len(d.Entries) == 1:
		name, ok := names[d.Entries[0].Name()]
		return name, ok
	case len(d.Entries) == 2 && d.Entries[0].Name() == arrayField:
		info := d.Entries[1].Info()
		if info.InternalType() == driver.TYPE_SQLNULL {
			return "text[]", true
		}
		element := Column{}
		if element.typed(info) != nil || element.made() {
			return "", false
		}
		return cmp.Or(element.Type, elementTypes[element.Kind]) + "[]", true
	}
	return "", false
}

// elementTypes are what PostgreSQL calls kinds.
var elementTypes = map[Kind]string{Integer: "int8", Decimal: "numeric", Real: "float8", Text: "text", Boolean: "bool", Date: "date",
	Timestamp: "timestamp"}

// made reports whether DuckDB has only a number of a column's values.
func (c Column) made() bool { return c.Kind == Text && c.Type != "" }

// Run runs a statement of Check over released tables. The result has no name.
func Run(ctx context.Context, text string, tables []Table) (*Table, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Time, ErrTime)
	defer cancel()
	in, err := open(ctx, tables)
	if err != nil {
		return nil, err
	}
	defer in.close()
	out := &Table{}
	err = in.conn.Raw(func(c any) error {
		out.Columns, err = describe(ctx, c, text)
		return err
	})
	if err != nil {
		return nil, in.explain(err)
	}
	name, err := in.keep(ctx, text, tables, out.Columns)
	if err != nil {
		return nil, err
	}
	rows, err := in.conn.QueryContext(ctx, "SELECT * FROM "+name)
	if err != nil {
		return nil, in.failure(ctx, err)
	}
	defer rows.Close()
	if err := out.read(ctx, in, rows); err != nil {
		return nil, err
	}
	return out, nil
}

// keep runs a statement into a table and returns the table's name. DuckDB counts the memory of a
// table and not that of an answer, and a table can be measured before it is read. One thread keeps
// the order of rows.
func (in *instance) keep(ctx context.Context, text string, tables []Table, columns []Column) (string, error) {
	name := "answer"
	for slices.ContainsFunc(tables, func(t Table) bool { return fold(t.Name) == name }) {
		name += "_"
	}
	name = quote(name)
	called, size := make([]string, len(columns)), "0"
	for i, c := range columns { // names of an answer may be the same
		called[i] = "c" + strconv.Itoa(i)
		if c.Kind == Text && !c.made() {
			size += " + coalesce(sum(strlen(" + called[i] + "::VARCHAR)), 0)"
		}
	}
	if _, err := in.conn.ExecContext(ctx, "CREATE TEMP TABLE "+name+" ("+strings.Join(called, ", ")+") AS "+text); err != nil {
		return "", in.failure(ctx, err)
	}
	var rows int
	var bytes float64
	if err := in.conn.QueryRowContext(ctx, "SELECT count(*), ("+size+")::DOUBLE FROM "+name).Scan(&rows, &bytes); err != nil {
		return "", in.failure(ctx, err)
	}
	switch {
	case rows > MaxRows:
		return "", ErrRows
	case bytes+float64(16*rows*len(columns)) > MaxBytes:
		return "", ErrBytes
	}
	return name, nil
}

func (t *Table) read(ctx context.Context, in *instance, rows *sql.Rows) error {
	bytes := 0
	cells := make([]any, len(t.Columns))
	into := make([]any, len(cells))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return in.failure(ctx, err)
		}
		row := make([]any, len(cells))
		for i, v := range cells {
			var err error
			if v != nil && t.Columns[i].made() {
				s, err := in.made.text(v)
				if err != nil {
					return err
				}
				if bytes += len(s); bytes > MaxBytes {
					return ErrBytes
				}
				row[i] = s
				continue
			}
			if row[i], err = t.Columns[i].result(v); err != nil {
				return err
			}
			s, _ := row[i].(string)
			if len(s) >= MaxText && utf8.RuneCountInString(s) == MaxText {
				return ErrText // it may have been cut
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return in.failure(ctx, err)
	}
	return nil
}

// turns bounds how many calls run at a time, and so the memory of all; ownTurns is for those of
// [WithOwnTurns].
var turns, ownTurns = make(chan struct{}, MaxRunning), make(chan struct{}, MaxOwnRunning)

type apartKey struct{}

// WithOwnTurns returns a context whose calls have turns of their own. It is for what begins and
// ends at moments that nobody hides: whoever waited there for a turn of a question that leaves on a
// tick would see when that has come as far as its outer query, and so how long the data took.
func WithOwnTurns(ctx context.Context) context.Context {
	return context.WithValue(ctx, apartKey{}, true)
}

func turnsFor(ctx context.Context) chan struct{} {
	if ctx.Value(apartKey{}) != nil {
		return ownTurns
	}
	return turns
}

// instance is a DuckDB for one call: in memory, locked, with the released tables and nothing else.
// Opening one takes about 15 ms; keeping them would need a proof that nothing stays behind.
type instance struct {
	db    *sql.DB
	conn  *sql.Conn
	turns chan struct{} // of which it has one
	made  makings
}

// settings are made before anything else; the last of them locks all.
var settings = []string{
	// One thread adds up in one order, so that sums of doubles are the same each time.
	"SET threads = 1",
	"SET memory_limit = '" + Memory + "'",
	"SET temp_directory = ''",
	"SET max_temp_directory_size = '0KB'",
	"SET integer_division = true", // as PostgreSQL divides whole numbers
	"SET TimeZone = 'UTC'",
	"SET autoinstall_known_extensions = false",
	"SET autoload_known_extensions = false",
	"SET allow_community_extensions = false",
	"SET allow_persistent_secrets = false",
	"SET disabled_filesystems = 'LocalFileSystem'",
	"SET enable_external_access = false",
	"SET lock_configuration = true",
}

// open takes a turn, opens a DuckDB, locks it and loads tables.
func open(ctx context.Context, tables []Table) (_ *instance, err error) {
	in := &instance{turns: turnsFor(ctx)}
	select {
	case in.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, contextError(ctx)
	}
	defer func() {
		if err != nil {
			in.close()
			if ctx.Err() != nil {
				err = contextError(ctx)
			}
		}
	}()
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		return nil, errStart
	}
	in.db = sql.OpenDB(connector)
	if in.conn, err = in.db.Conn(ctx); err != nil {
		return nil, errStart
	}
	if _, err := in.conn.ExecContext(ctx, strings.Join(settings, ";")); err != nil {
		return nil, errStart
	}
	if err := in.made.register(in.conn); err != nil {
		return nil, err
	}
	for i := range tables {
		if err := in.load(ctx, &tables[i]); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func (in *instance) close() error {
	var err error
	if in.conn != nil {
		err = in.conn.Close()
	}
	if in.db != nil {
		err = errors.Join(err, in.db.Close())
	}
	<-in.turns
	return err
}

// load makes a table. Its types depend on its columns alone, so that Describe sees what Run will.
func (in *instance) load(ctx context.Context, t *Table) error {
	if len(t.Columns) == 0 {
		return fmt.Errorf("the released result %q has no columns", t.Name)
	}
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		kind, err := c.sql()
		if err != nil {
			return fmt.Errorf("the released result %q: %w", t.Name, err)
		}
		columns[i] = quote(c.Name) + " " + kind
	}
	if _, err := in.conn.ExecContext(ctx, "CREATE TABLE "+quote(t.Name)+" ("+strings.Join(columns, ", ")+")"); err != nil {
		return fmt.Errorf("the released result %q cannot be made into a table; do two of its columns have the same name?", t.Name)
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return in.conn.Raw(func(c any) error { return fill(c, t) })
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// sql is a column's type. A released whole number has at most 64 bits.
func (c Column) sql() (string, error) {
	switch c.Kind {
	case Integer:
		return "BIGINT", nil
	case Decimal:
		if c.Decimals < 0 || c.Decimals > maxDecimals {
			return "", fmt.Errorf("column %q has %d digits after the point; at most %d are possible", c.Name, c.Decimals, maxDecimals)
		}
		return "DECIMAL(38, " + strconv.Itoa(c.Decimals) + ")", nil
	case Real:
		return "DOUBLE", nil
	case Text:
		return "VARCHAR", nil
	case Boolean:
		return "BOOLEAN", nil
	case Date:
		return "DATE", nil
	case Timestamp:
		return "TIMESTAMP", nil
	}
	return "", fmt.Errorf("column %q has an unknown kind", c.Name)
}

// What stops a statement. None of these costs anything, and the released results stay.
var (
	ErrTime    = stopError("took more than %v and was stopped; join and generate fewer rows", Time)
	ErrMemory  = stopError("needed more than %s of memory and was stopped; join and generate fewer rows", Memory)
	ErrRows    = stopError("has more than %d rows; add a LIMIT or group them", MaxRows)
	ErrBytes   = stopError("has an answer larger than %d MB; select less", MaxBytes>>20)
	ErrText    = stopError("makes a text of %d characters or more; make it shorter with left()", MaxText)
	errColumns = stopError("has more than %d columns; name the ones you need", MaxColumns)
	errStart   = error(&api.AroundError{Text: "the engine for outer queries did not start; try again"})
)

func stopError(format string, args ...any) error {
	return &api.AroundError{Text: "the outer query " + fmt.Sprintf(format, args...)}
}

// contextError says why a context ended: our own limit, or the caller.
func contextError(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrTime) {
		return ErrTime
	}
	return ctx.Err()
}

// duckdbMessage is what DuckDB says, in one line and without its own marks. It names columns and
// released values.
func duckdbMessage(text string) string {
	line, _, _ := strings.Cut(strings.NewReplacer(tableMark, "", Hidden, "").Replace(text), "\n")
	if _, rest, ok := strings.Cut(line, "Error: "); ok {
		line = rest
	}
	runes := []rune(strings.TrimRight(strings.TrimSpace(line), "!.;"))
	if len(runes) > 200 {
		runes = append(runes[:200], []rune(" ...")...)
	}
	return string(runes)
}

// tellableErrors are the errors of DuckDB that are about the statement and its values.
var tellableErrors = map[driver.ErrorType]bool{
	driver.ErrorTypeBinder: true, driver.ErrorTypeOutOfRange: true, driver.ErrorTypeConversion: true, driver.ErrorTypeInvalidInput: true,
	driver.ErrorTypeMismatchType: true, driver.ErrorTypeParser: true, driver.ErrorTypeSyntax: true, driver.ErrorTypeCatalog: true,
	driver.ErrorTypeNotImplemented: true, driver.ErrorTypeDivideByZero: true, driver.ErrorTypeExpression: true,
	driver.ErrorTypeDecimal: true,
}

// reason turns an error of DuckDB into one sentence. The second result says whether it was one of
// ours.
func reason(ctx context.Context, err error) (string, error) {
	if ctx.Err() != nil {
		return "", contextError(ctx)
	}
	var d *driver.Error
	if !errors.As(err, &d) {
		return "DuckDB cannot run it", nil
	}
	switch {
	case d.Type == driver.ErrorTypeOutOfMemory:
		return "", ErrMemory
	case tellableErrors[d.Type]:
		return duckdbMessage(d.Msg), nil
	}
	return "DuckDB cannot run it", nil
}

// refusal is for what goes wrong before a statement runs.
func refusal(ctx context.Context, err error) error {
	text, ours := reason(ctx, err)
	if ours != nil {
		return ours
	}
	return syntax.Refuse(kindOf(err), -1, "look at the names and types of the columns that the inner queries return",
		"the query around the released results cannot run: %s", text)
}

// kindOf is the kind of what DuckDB finds wrong: mostly a name or a type, and it does not say
// which.
func kindOf(err error) syntax.Kind {
	var d *driver.Error
	if errors.As(err, &d) {
		switch d.Type {
		case driver.ErrorTypeBinder, driver.ErrorTypeCatalog:
			return syntax.BadName
		case driver.ErrorTypeConversion, driver.ErrorTypeMismatchType, driver.ErrorTypeInvalidInput:
			return syntax.Mismatch
		case driver.ErrorTypeOutOfRange, driver.ErrorTypeDecimal:
			return syntax.OutOfRange
		}
	}
	return syntax.Unsupported
}

// failure is for what goes wrong while it runs.
func failure(ctx context.Context, err error) error {
	text, ours := reason(ctx, err)
	if ours != nil {
		return ours
	}
	return &api.AroundError{Text: "the query around the released results stopped: " + text}
}
