package pgwire

import (
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// routePrepare takes PREPARE name (types) AS SELECT. Its parameters are those of the SELECT, and
// get their values from EXECUTE.
func (s *session) routePrepare(st *statement, n *pg.PrepareStmt) error {
	if len(n.Argtypes) > maxParameters {
		return failure(tooComplex, "a statement has at most %d parameters", maxParameters)
	}
	var given []uint32
	for _, a := range n.Argtypes {
		t := typeNamed(a.GetTypeName())
		if t == 0 {
			return failure(undefinedObject, "the type of parameter $%d does not exist", len(given)+1)
		}
		given = append(given, t)
	}
	if err := s.enclose(st, n.Query, pg.Token_AS); err != nil {
		return err
	}
	st.inner.name, st.inner.given, st.inner.named = n.Name, given, true
	st.values = 0
	return nil
}

// typeNamed is the type that a name stands for, or 0.
func typeNamed(t *pg.TypeName) uint32 {
	var parts []string
	for _, n := range t.GetNames() {
		parts = append(parts, n.GetString_().GetSval())
	}
	found := oid.Types(nil).Named(parts)
	if found == unknownOID {
		return textOID
	}
	if len(t.GetArrayBounds()) > 0 && found != 0 {
		return oid.ArrayOf(found)
	}
	return found
}

func (s *session) runPrepare(st *statement) (*result, error) {
	if err := named(st.inner.name); err != nil {
		return nil, err
	}
	if s.statements[st.inner.name] != nil {
		return nil, failure(duplicateStatement, "prepared statement %q already exists", clip(st.inner.name))
	}
	if err := s.describeInner(st); err != nil {
		return nil, err
	}
	kept := st.alone() // with what was described
	kept.question = st.inner.question
	if err := s.keepStatement(kept); err != nil {
		return nil, err
	}
	return &result{tag: "PREPARE"}, nil
}

// runExecute runs a prepared statement, whoever has prepared it: a PREPARE, or a message of the
// protocol.
func (s *session) runExecute(n *pg.ExecuteStmt) (*result, error) {
	st, values, err := s.executed(n)
	if err != nil {
		return nil, err
	}
	r, err := s.run(st, values)
	if err != nil {
		return nil, placeless(err)
	}
	if st.described && len(st.columns) == len(r.columns) {
		r.columns = st.columns
	}
	return r, nil
}

// executed finds what an EXECUTE is for, and reads its values.
func (s *session) executed(n *pg.ExecuteStmt) (*statement, []argument, error) {
	st := s.statements[n.Name]
	if st == nil || n.Name == "" {
		return nil, nil, failure(invalidStatement, "prepared statement %q does not exist", clip(n.Name))
	}
	if st.kind != question && st.kind != catalogue && st.kind != explaining {
		return nil, nil, failure(notSupported, "EXECUTE runs what was prepared with PREPARE ... AS SELECT")
	}
	if err := s.describe(st); err != nil {
		return nil, nil, placeless(err)
	}
	want := max(st.values, len(st.given))
	if want == 0 {
		return st, nil, nil // PostgreSQL does not look at values that nobody takes
	}
	if len(n.Params) != want {
		return nil, nil, failure(syntaxError, "wrong number of parameters for prepared statement %q", clip(n.Name)).
			hinting("expected " + strconv.Itoa(want) + " parameters but got " + strconv.Itoa(len(n.Params)))
	}
	values := make([]argument, len(n.Params))
	for i, p := range n.Params {
		text, null, ok := spelled(p)
		if !ok {
			return nil, nil, failure(notSupported, "the values of an EXECUTE are constants").
				hinting("write numbers, quoted texts, true, false, NULL, or ARRAY[...] of these")
		}
		var data []byte
		if !null {
			data = []byte(text)
		}
		var err error
		if values[i], err = decode(s.typeMap(), i+1, st.parameters[i], pgtype.TextFormatCode, data); err != nil {
			return nil, nil, err
		}
	}
	return st, values, nil
}

// spelled is the text of a constant: as it stands, with a cast, or as an array of constants.
func spelled(n *pg.Node) (text string, null, ok bool) {
	switch x := n.GetNode().(type) {
	case *pg.Node_AConst:
		if x.AConst.GetIsnull() {
			return "", true, true
		}
		text, ok = constant(n)
		return text, false, ok
	case *pg.Node_TypeCast:
		return spelled(x.TypeCast.GetArg())
	case *pg.Node_AExpr:
		inner, null, ok := spelled(x.AExpr.GetRexpr())
		minus := x.AExpr.GetLexpr() == nil && len(x.AExpr.GetName()) == 1 && x.AExpr.GetName()[0].GetString_().GetSval() == "-"
		return "-" + inner, false, ok && minus && !null && !strings.HasPrefix(inner, "-")
	case *pg.Node_AArrayExpr:
		texts := make([]*string, len(x.AArrayExpr.GetElements()))
		for i, e := range x.AArrayExpr.GetElements() {
			text, null, ok := spelled(e)
			if !ok || e.GetAArrayExpr() != nil {
				return "", false, false
			}
			if !null {
				texts[i] = &text
			}
		}
		return arrayOf(texts), false, true
	}
	return "", false, false
}
