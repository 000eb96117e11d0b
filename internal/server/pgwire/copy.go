package pgwire

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
)

// routeCopy takes a COPY that gives the client an answer. It is the same answer in another
// encoding: what is inside is asked, paid for, remembered and held back as any SELECT is.
func (r *router) routeCopy(st *statement, n *pg.CopyStmt) error {
	switch {
	case n.IsFrom:
		return failure(readOnly, "nothing can be written here").withHint("write a SELECT of aggregates, as in SELECT count(*) FROM table")
	case n.Filename != "" || n.IsProgram:
		return failure(notPermitted, "this server writes no files and runs no programs").
			withHint("write COPY (SELECT ...) TO STDOUT; in psql, \\copy (SELECT ...) TO 'file'")
	}
	var err error
	if st.copy, err = readCopyOptions(n.Options); err != nil {
		return err
	}
	if n.Relation == nil {
		return r.enclose(st, n.Query, pg.Token_ASCII_40)
	}
	all, err := splitStatements(selectAll(n))
	if err != nil || len(all) != 1 {
		return internalFailure()
	}
	st.inner, all[0].own = all[0], st.own
	return st.relocateError(r.route(st.inner))
}

// selectAll is the SELECT that COPY table is short for.
func selectAll(n *pg.CopyStmt) string {
	columns := []string{}
	for _, c := range n.Attlist {
		columns = append(columns, datum.Quote(c.GetString_().GetSval()))
	}
	if len(columns) == 0 {
		columns = []string{"*"}
	}
	name := datum.Quote(n.Relation.Relname)
	if n.Relation.Schemaname != "" {
		name = datum.Quote(n.Relation.Schemaname) + "." + name
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + name
}

func (r *runner) runCopy(st *statement, values []argument) (*result, error) {
	if len(st.copy.forcedColumns) > 0 { // a column that is not there is refused before anything is paid
		if err := r.describer.describeInner(st); err != nil {
			return nil, err
		}
		if err := st.copy.refuseUnknownColumns(st.inner.columns); err != nil {
			return nil, err
		}
	}
	out, err := r.run(st.inner, values)
	if err != nil {
		return nil, st.relocateError(err)
	}
	out.tag, out.copy, out.count = "COPY", st.copy, len(out.rows)
	return out, nil
}

type copyFormat int

const (
	textCopy copyFormat = iota
	csvCopy
	binaryCopy
)

// copyOptions are those of a COPY, with what PostgreSQL takes where nothing is said.
type copyOptions struct {
	format        copyFormat
	header        bool
	delimiter     byte
	null          string
	quote, escape byte
	forcedColumns []string // columns that are always quoted
	forceAll      bool
}

// readCopyOptions reads the options of a COPY, and refuses what PostgreSQL refuses.
func readCopyOptions(options []*pg.Node) (*copyOptions, error) {
	given := map[string]*pg.Node{}
	for _, o := range options {
		d := o.GetDefElem()
		if _, twice := given[d.GetDefname()]; twice {
			return nil, failure(syntaxError, "conflicting or redundant options")
		}
		given[d.GetDefname()] = d.GetArg()
	}
	c := &copyOptions{delimiter: '\t', null: `\N`}
	if arg, ok := given["format"]; ok {
		switch name := arg.GetString_().GetSval(); name {
		case "text":
		case "csv":
			c.format, c.delimiter, c.null, c.quote = csvCopy, ',', "", '"'
		case "binary":
			c.format = binaryCopy
		default:
			return nil, failure(invalidParameter, "COPY format %q not recognized", shorten(name))
		}
	}
	c.escape = c.quote
	for _, name := range []string{"delimiter", "null", "header", "quote", "escape", "force_quote", "encoding"} {
		if arg, ok := given[name]; ok {
			if err := c.set(name, arg); err != nil {
				return nil, err
			}
		}
		delete(given, name)
	}
	delete(given, "format")
	for name := range given {
		return nil, failure(syntaxError, "COPY ... TO has no option %q", shorten(name)).
			withHint("the options are FORMAT, HEADER, DELIMITER, NULL, QUOTE, ESCAPE, FORCE_QUOTE and ENCODING")
	}
	return c, c.refuseConflicts()
}

func (c *copyOptions) set(name string, arg *pg.Node) error {
	text := arg.GetString_().GetSval()
	upper := strings.ToUpper(name)
	if c.format == binaryCopy && name != "encoding" {
		return failure(syntaxError, "cannot specify %s in BINARY mode", upper)
	}
	switch name {
	case "null":
		c.null = text
	case "header":
		on, err := copyHeader(arg)
		c.header = on
		return err
	case "force_quote":
		if c.format != csvCopy {
			return failure(notSupported, "COPY FORCE_QUOTE requires CSV mode")
		}
		c.forceAll = arg.GetAStar() != nil
		for _, n := range arg.GetList().GetItems() {
			c.forcedColumns = append(c.forcedColumns, n.GetString_().GetSval())
		}
	case "encoding":
		switch strings.ToUpper(strings.NewReplacer("-", "", "_", "").Replace(text)) {
		case "UTF8", "UNICODE":
			return nil
		}
		return failure(notSupported, "answers are sent in UTF8 only").withHint("leave ENCODING out")
	case "delimiter", "quote", "escape":
		if name != "delimiter" && c.format != csvCopy {
			return failure(notSupported, "COPY %s requires CSV mode", upper)
		}
		if len(text) != 1 {
			return failure(notSupported, "COPY %s must be a single one-byte character", name)
		}
		switch name {
		case "delimiter":
			c.delimiter = text[0]
		case "quote":
			if c.escape == c.quote { // which is what it is where nothing is said
				c.escape = text[0]
			}
			c.quote = text[0]
		case "escape":
			c.escape = text[0]
		}
	}
	return nil
}

// copyHeader reads HEADER, which is on where it has no value.
func copyHeader(arg *pg.Node) (bool, error) {
	if arg == nil {
		return true, nil
	}
	if b := arg.GetBoolean(); b != nil {
		return b.GetBoolval(), nil
	}
	text := arg.GetString_().GetSval()
	if i := arg.GetInteger(); i != nil {
		text = map[int32]string{0: "off", 1: "on"}[i.GetIval()]
	}
	on, err := acceptSwitch(text)
	if err != nil || text == "" {
		return false, failure(syntaxError, "header requires a Boolean value")
	}
	return on == "on", nil
}

func (c *copyOptions) refuseConflicts() error {
	switch {
	case c.format == binaryCopy:
	case strings.ContainsAny(string(rune(c.delimiter)), "\r\n"):
		return failure(invalidParameter, "COPY delimiter cannot be newline or carriage return")
	case strings.ContainsAny(c.null, "\r\n"):
		return failure(invalidParameter, "COPY null representation cannot use newline or carriage return")
	case c.format == textCopy && strings.IndexByte(`\.abcdefghijklmnopqrstuvwxyz0123456789`, c.delimiter) >= 0:
		return failure(invalidParameter, "COPY delimiter cannot be %q", string(rune(c.delimiter)))
	case c.format == csvCopy && c.delimiter == c.quote:
		return failure(invalidParameter, "COPY delimiter and quote must be different")
	case strings.IndexByte(c.null, c.delimiter) >= 0:
		return failure(notSupported, "COPY delimiter character must not appear in the NULL specification")
	case c.format == csvCopy && strings.IndexByte(c.null, c.quote) >= 0:
		return failure(notSupported, "CSV quote character must not appear in the NULL specification")
	}
	return nil
}

// refuseUnknownColumns refuses columns that an answer does not have. Which it has is known before
// it is asked for.
func (c *copyOptions) refuseUnknownColumns(columns []column) error {
	for _, name := range c.forcedColumns {
		if !slices.ContainsFunc(columns, func(k column) bool { return k.name == name }) {
			return failure(undefinedColumn, "column %q does not exist", shorten(name))
		}
	}
	return nil
}

func (c *copyOptions) isForced(name string) bool {
	return c.forceAll || slices.Contains(c.forcedColumns, name)
}

type copyEncoder struct {
	options *copyOptions
	columns []column
	types   func() *pgtype.Map
	begun   bool
}

// binaryFileHeader stands before the first row of the binary format: a signature, no flags, nothing
// more.
const binaryFileHeader = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

func (c *copyEncoder) header() []byte {
	if !c.options.header {
		return nil
	}
	var line []byte
	for i, k := range c.columns {
		line = c.field(line, i, printable(k.name), false)
	}
	return append(line, '\n')
}

// row is a row. In binary the first has the head of the file before it, in the same message: there
// are clients that look for both at once.
func (c *copyEncoder) row(values []any) ([]byte, error) {
	if len(values) != len(c.columns) {
		return nil, internalFailure()
	}
	if c.options.format == binaryCopy {
		return c.binaryRow(values)
	}
	var line []byte
	for i, v := range values {
		text, null := c.columns[i].text(v)
		if null {
			if i > 0 {
				line = append(line, c.options.delimiter)
			}
			line = append(line, c.options.null...)
			continue
		}
		line = c.field(line, i, text, c.options.isForced(c.columns[i].name))
	}
	return append(line, '\n'), nil
}

func (c *copyEncoder) binaryRow(values []any) ([]byte, error) {
	line := binary.BigEndian.AppendUint16(c.takeFileHeader(), uint16(len(values)))
	for i, v := range values {
		text, null := c.columns[i].text(v)
		if null {
			line = binary.BigEndian.AppendUint32(line, 0xffff_ffff)
			continue
		}
		data, err := formatBinary(c.types(), c.columns[i].oid, text)
		if err != nil {
			return nil, err
		}
		line = append(binary.BigEndian.AppendUint32(line, uint32(len(data))), data...)
	}
	return line, nil
}

// takeFileHeader is empty after the first time.
func (c *copyEncoder) takeFileHeader() []byte {
	if c.begun {
		return nil
	}
	c.begun = true
	return []byte(binaryFileHeader)
}

func (c *copyEncoder) fileTrailer() []byte {
	if c.options.format != binaryCopy {
		return nil
	}
	return append(c.takeFileHeader(), 0xff, 0xff)
}

// field writes a value, with what stands before it.
func (c *copyEncoder) field(line []byte, i int, text string, force bool) []byte {
	if i > 0 {
		line = append(line, c.options.delimiter)
	}
	if c.options.format == csvCopy {
		return c.csvField(line, text, force)
	}
	for _, b := range []byte(text) {
		if at := strings.IndexByte("\b\f\n\r\t\v", b); at >= 0 {
			line = append(line, '\\', "bfnrtv"[at])
			continue
		}
		if b == '\\' || b == c.options.delimiter {
			line = append(line, '\\')
		}
		line = append(line, b)
	}
	return line
}

// csvField writes a value of a CSV file. What looks like a NULL is quoted, and so is what some
// programs take for the end of a file.
func (c *copyEncoder) csvField(line []byte, text string, force bool) []byte {
	o := c.options
	if !force && text != o.null && !(len(c.columns) == 1 && text == `\.`) &&
		!strings.ContainsAny(text, "\r\n") && strings.IndexByte(text, o.delimiter) < 0 && strings.IndexByte(text, o.quote) < 0 {
		return append(line, text...)
	}
	line = append(line, o.quote)
	for _, b := range []byte(text) {
		if b == o.quote || b == o.escape {
			line = append(line, o.escape)
		}
		line = append(line, b)
	}
	return append(line, o.quote)
}
