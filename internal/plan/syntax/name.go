package syntax

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/api"
)

// schema is where all tables are.
const schema = "public"

// SelectOf returns the SELECT that the text is, with every name of a table or column as it is
// without the schema and the database in front of it, so that nobody after this has to know of
// them: public.t, db.public.t and ONLY t are t. It is to be looked at and not changed.
func (t *Text) SelectOf(database string) (*pg.SelectStmt, error) {
	s, err := t.Select()
	if err != nil || !isQualified(s) {
		return s, err
	}
	s = proto.Clone(s).(*pg.SelectStmt)
	n := qualified{database: database, named: map[string]bool{}}
	EachNode(SelectNode(s), func(x *pg.Node) bool {
		if q := x.GetCommonTableExpr(); q != nil {
			n.named[strings.ToLower(q.Ctename)] = true
		}
		return true
	})
	EachNode(SelectNode(s), func(x *pg.Node) bool {
		n.shorten(x)
		return n.refused == nil
	})
	if n.refused != nil {
		return nil, n.refused
	}
	return s, nil
}

// isQualified reports whether a name of a SELECT has something in front of it.
func isQualified(s *pg.SelectStmt) (found bool) {
	EachNode(SelectNode(s), func(n *pg.Node) bool {
		v := n.GetRangeVar()
		found = found || v != nil && (v.Schemaname != "" || v.Catalogname != "" || !v.Inh) || len(n.GetColumnRef().GetFields()) > 2
		return !found
	})
	return found
}

// qualified shortens names.
type qualified struct {
	database string
	named    map[string]bool // queries of WITH, which have no schema
	refused  *api.Refusal
}

func (q *qualified) shorten(n *pg.Node) {
	if v := n.GetRangeVar(); v != nil {
		q.check(v.Catalogname, v.Schemaname, v.Location)
		if v.Schemaname != "" && q.named[strings.ToLower(v.Relname)] {
			q.refuse(v.Location, "give the query of WITH another name", "WITH has a query of the name of the table %q", v.Relname)
		}
		v.Catalogname, v.Schemaname, v.Inh = "", "", true
	}
	c := n.GetColumnRef()
	from := len(c.GetFields()) - 2 // a table and a column are left
	if from <= 0 {
		return
	}
	before := make([]string, 2) // the database and the schema
	for i, f := range c.Fields[:from] {
		if from > 2 || f.GetString_() == nil {
			q.refuse(c.Location, "write table.column", "the name has too many parts")
			return
		}
		before[2-from+i] = f.GetString_().Sval
	}
	q.check(before[0], before[1], c.Location)
	c.Fields = c.Fields[from:]
}

// check refuses another database and another schema.
func (q *qualified) check(database, in string, at int32) {
	switch {
	case database != "" && !strings.EqualFold(database, q.database):
		q.refuse(at, "connect to that dataset, and ask there", "the question is asked of %q, and %q is another database", q.database,
			database)
	case in == "pg_catalog" || in == "information_schema":
		q.refuse(at, "ask the catalogue alone, which is free and exact", "the catalogue cannot be asked together with tables")
	case in != "" && in != schema:
		q.refuse(at, "write public.table, or the table's name alone", "there is no schema %q for tables: all of them are in %q", in, schema)
		q.refused.Code = noSchema
	}
}

func (q *qualified) refuse(at int32, instead, format string, args ...any) {
	if q.refused == nil {
		q.refused = Refuse(at, instead, format, args...)
	}
}
