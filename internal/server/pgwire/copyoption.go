package pgwire

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// copyFormat is how COPY writes rows.
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
	force         []string // columns that are always quoted
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
			return nil, failure(invalidParameter, "COPY format %q not recognized", clip(name))
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
		return nil, failure(notSupported, "COPY ... TO has no option %q", clip(name)).
			hinting("the options are FORMAT, HEADER, DELIMITER, NULL, QUOTE, ESCAPE, FORCE_QUOTE and ENCODING")
	}
	return c, c.agree()
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
			c.force = append(c.force, n.GetString_().GetSval())
		}
	case "encoding":
		switch strings.ToUpper(strings.NewReplacer("-", "", "_", "").Replace(text)) {
		case "UTF8", "UNICODE":
			return nil
		}
		return failure(notSupported, "answers are sent in UTF8, and in no other encoding").hinting("leave ENCODING out")
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
	on, err := truth(text)
	if err != nil || text == "" {
		return false, failure(syntaxError, "header requires a Boolean value")
	}
	return on == "on", nil
}

// agree refuses options that do not go together.
func (c *copyOptions) agree() error {
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

// check refuses columns that an answer does not have. Which it has is known before it is asked for.
func (c *copyOptions) check(columns []column) error {
	for _, name := range c.force {
		if !slices.ContainsFunc(columns, func(k column) bool { return k.name == name }) {
			return failure(undefinedColumn, "column %q does not exist", clip(name))
		}
	}
	return nil
}

// forced says whether values of a column are always quoted.
func (c *copyOptions) forced(name string) bool { return c.forceAll || slices.Contains(c.force, name) }
