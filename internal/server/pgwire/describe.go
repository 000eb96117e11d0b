package pgwire

import (
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgtext"
)

// describer says what statements take and return, before they are run.
type describer struct {
	asker    *asker
	objects  *objectStore
	memory   *heldMemory
	settings *settings
	out      *clientWriter
}

// describe finds out what a statement takes and returns, once.
func (d *describer) describe(st *statement) error {
	if st.described {
		return nil
	}
	now := d.asker.dispatcher.DB().Policy() // or one before what is described
	parameters, columns, err := d.shape(st)
	if err != nil {
		return err
	}
	n := max(st.parameterCount, len(parameters), len(st.givenTypes))
	st.parameterTypes = make([]uint32, n)
	for i := range st.parameterTypes {
		if i < len(parameters) {
			st.parameterTypes[i] = parameters[i]
		}
		if i < len(st.givenTypes) && st.givenTypes[i] != 0 && st.givenTypes[i] != unknownOID {
			st.parameterTypes[i] = st.givenTypes[i]
		}
		if st.parameterTypes[i] == 0 {
			st.parameterTypes[i] = textOID
		}
	}
	// What a cursor and a prepared statement are another one may be called next.
	st.columns, st.described = columns, st.kind != fetchStatement && st.kind != executeStatement
	st.errorColumns, st.policy = st.own.apply(d.settings.current.dp).Errors, now
	if err := d.memory.recount(st); err != nil {
		st.parameterTypes, st.columns, st.described = nil, nil, false
		return err
	}
	return nil
}

func (d *describer) describeInner(st *statement) error {
	if err := d.describe(st.inner); err != nil {
		return st.relocateError(err)
	}
	return d.memory.recount(st)
}

// shape asks who will answer for the types of parameters and for columns.
func (d *describer) shape(st *statement) (parameters []uint32, columns []column, err error) {
	switch st.kind {
	case questionStatement:
		return d.asker.describeQuestion(st, st.sql())
	case catalogueStatement:
		return d.asker.describeCatalogue(st.sql(), st.givenTypes)
	case explainStatement:
		if st.explained.execute != nil {
			_, _, err = d.findPrepared(st.explained.execute)
			return nil, st.explained.columns(), err
		}
		if st.explained.catalogue {
			parameters, _, err = d.asker.describeCatalogue(st.explained.sql, st.givenTypes)
		} else {
			parameters, _, err = d.asker.describeQuestion(st, st.explained.sql)
		}
		return parameters, st.explained.columns(), shiftPosition(err, st.explained.at)
	case showStatement:
		return nil, showColumns(st.node.GetVariableShowStmt().GetName()), nil
	case copyStatement, declareStatement:
		st.inner.givenTypes = st.givenTypes
		err = d.describeInner(st)
		return st.inner.parameterTypes, nil, err
	case fetchStatement:
		columns, err = d.fetchColumns(st.node.GetFetchStmt())
		return nil, columns, err
	case executeStatement:
		found, _, err := d.findPrepared(st.node.GetExecuteStmt())
		if err != nil {
			return nil, nil, err
		}
		return nil, found.columns, nil
	}
	return nil, nil, nil
}

// fetchColumns are the columns of a FETCH: those of its cursor.
func (d *describer) fetchColumns(n *pg.FetchStmt) ([]column, error) {
	p, err := d.objects.findCursor(n.Portalname)
	if err != nil || n.Ismove {
		return nil, err
	}
	if err := d.describe(p.st); err != nil {
		return nil, dropPosition(err)
	}
	return p.columns(), nil
}

// findPrepared finds what an EXECUTE is for, and reads its values.
func (d *describer) findPrepared(n *pg.ExecuteStmt) (*statement, []argument, error) {
	st := d.objects.statements[n.Name]
	if st == nil || n.Name == "" {
		return nil, nil, failure(invalidStatement, "prepared statement %q does not exist", shorten(n.Name))
	}
	if st.kind != questionStatement && st.kind != catalogueStatement && st.kind != explainStatement {
		return nil, nil, failure(notSupported, "EXECUTE runs a statement that was prepared with PREPARE ... AS SELECT")
	}
	if err := d.describe(st); err != nil {
		return nil, nil, dropPosition(err)
	}
	want := max(st.parameterCount, len(st.givenTypes))
	if want == 0 {
		return st, nil, nil // PostgreSQL does not look at values that nobody takes
	}
	if len(n.Params) != want {
		return nil, nil, failure(syntaxError, "wrong number of parameters for prepared statement %q", shorten(n.Name)).
			withHint("expected " + strconv.Itoa(want) + " parameters but got " + strconv.Itoa(len(n.Params)))
	}
	values := make([]argument, len(n.Params))
	for i, p := range n.Params {
		text, null, ok := parameterText(p)
		if !ok {
			return nil, nil, failure(notSupported, "the values of an EXECUTE must be constants").
				withHint("write numbers, quoted texts, true, false, NULL, or ARRAY[...] of these")
		}
		var data []byte
		if !null {
			data = []byte(text)
		}
		var err error
		if values[i], err = decode(d.out.typeMap(), i+1, st.parameterTypes[i], pgtype.TextFormatCode, data); err != nil {
			return nil, nil, err
		}
	}
	return st, values, nil
}

// parameterText is the text of a constant: as it stands, with a cast, or as an array of constants.
func parameterText(n *pg.Node) (text string, null, ok bool) {
	switch x := n.GetNode().(type) {
	case *pg.Node_AConst:
		if x.AConst.GetIsnull() {
			return "", true, true
		}
		text, ok = constantText(n)
		return text, false, ok
	case *pg.Node_TypeCast:
		return parameterText(x.TypeCast.GetArg())
	case *pg.Node_AExpr:
		inner, null, ok := parameterText(x.AExpr.GetRexpr())
		minus := x.AExpr.GetLexpr() == nil && len(x.AExpr.GetName()) == 1 && x.AExpr.GetName()[0].GetString_().GetSval() == "-"
		return "-" + inner, false, ok && minus && !null && !strings.HasPrefix(inner, "-")
	case *pg.Node_AArrayExpr:
		texts := make([]*string, len(x.AArrayExpr.GetElements()))
		for i, e := range x.AArrayExpr.GetElements() {
			text, null, ok := parameterText(e)
			if !ok || e.GetAArrayExpr() != nil {
				return "", false, false
			}
			if !null {
				texts[i] = &text
			}
		}
		return pgtext.Array(texts), false, true
	}
	return "", false, false
}
