package pgwire

import (
	"context"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/server/catalog"
)

// kind says who answers a statement.
type kind int

const (
	empty kind = iota
	question
	catalogue
	explaining
	changing
	showing
	transaction
	discarding
	deallocating
)

// route decides who answers a statement, from its tree, or refuses it.
func (s *session) route(st *statement) error {
	node := st.node
	switch n := node.GetNode().(type) {
	case *pg.Node_SelectStmt:
		st.node = nil
		st.kind = question
		if s.catalog.About(n.SelectStmt) {
			st.kind = catalogue
		}
		return s.mayAsk(st.kind)
	case *pg.Node_ExplainStmt:
		st.kind, st.node = explaining, nil
		var err error
		if st.explained, err = s.readExplain(st.sql(), n.ExplainStmt); err != nil {
			return err
		}
		if st.explained.catalogue {
			return nil
		}
		return s.mayAsk(question)
	}
	// Of everything else the tree is kept, which is far larger than its text.
	if st.to-st.from > maxCommand {
		return failure(tooComplex, "a statement that is no SELECT has at most %d bytes", maxCommand)
	}
	switch n := node.GetNode().(type) {
	case *pg.Node_VariableSetStmt:
		st.kind = changing
	case *pg.Node_VariableShowStmt:
		st.kind = showing
		return s.checkShow(n.VariableShowStmt.Name)
	case *pg.Node_TransactionStmt:
		st.kind = transaction
	case *pg.Node_DiscardStmt:
		st.kind = discarding
	case *pg.Node_DeallocateStmt:
		st.kind = deallocating
	default:
		return refused(node)
	}
	return nil
}

// mayAsk refuses the questions of owners who are no analysts.
func (s *session) mayAsk(k kind) error {
	if k == question && !s.analyst {
		return failure(notPermitted, "the policy does not list you as an analyst of this dataset, so you can look at the catalogue and ask nothing")
	}
	return nil
}

// refused says why a statement is for other servers.
func refused(node *pg.Node) error {
	const ask = "write a SELECT of aggregates, as in SELECT count(*) FROM table"
	switch node.GetNode().(type) {
	case *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_MergeStmt, *pg.Node_TruncateStmt, *pg.Node_CreateTableAsStmt, *pg.Node_CreateStmt,
		*pg.Node_DropStmt, *pg.Node_AlterTableStmt, *pg.Node_IndexStmt, *pg.Node_ViewStmt, *pg.Node_CreateSchemaStmt, *pg.Node_CreateSeqStmt, *pg.Node_CreateFunctionStmt,
		*pg.Node_RenameStmt, *pg.Node_CommentStmt, *pg.Node_RefreshMatViewStmt, *pg.Node_CreateExtensionStmt, *pg.Node_CreatedbStmt, *pg.Node_DropdbStmt:
		return failure(readOnly, "nothing can be written here").hinting(ask)
	case *pg.Node_CopyStmt:
		return failure(notPermitted, "rows do not leave this server, and none come in").hinting(ask)
	case *pg.Node_GrantStmt, *pg.Node_GrantRoleStmt, *pg.Node_CreateRoleStmt, *pg.Node_AlterRoleStmt, *pg.Node_AlterRoleSetStmt, *pg.Node_DropRoleStmt, *pg.Node_AlterSystemStmt:
		return failure(notPermitted, "users and what they may do are for the owner of the data").hinting("the owner uses 'discreet user', and the policy")
	case *pg.Node_PrepareStmt, *pg.Node_ExecuteStmt:
		return failure(notSupported, "PREPARE and EXECUTE are not supported as statements").hinting("prepared statements of the protocol work: most drivers use them by themselves, and psql 16 with \\bind")
	case *pg.Node_DeclareCursorStmt, *pg.Node_FetchStmt, *pg.Node_ClosePortalStmt:
		return failure(notSupported, "cursors are not supported as statements").hinting("portals of the protocol work, such as JDBC's fetch size; in psql, unset FETCH_COUNT")
	case *pg.Node_ListenStmt, *pg.Node_NotifyStmt, *pg.Node_UnlistenStmt:
		return failure(notSupported, "nobody notifies anybody here")
	case *pg.Node_LockStmt:
		return failure(notSupported, "there is nothing to lock: nobody writes")
	}
	return failure(notSupported, "this statement is not supported").hinting(ask)
}

// result is what a statement returned.
type result struct {
	columns []column // nil where no rows come
	rows    [][]any
	tag     string // "SELECT" gets a number
	answer  *discreet.Answer
}

// run does what a statement says.
func (s *session) run(st *statement, values []argument) (*result, error) {
	switch st.kind {
	case question:
		return s.runQuestion(st, values)
	case catalogue:
		return s.runCatalogue(st, values)
	case explaining:
		return s.runExplain(st, values)
	case changing:
		return s.runSet(st.node.GetVariableSetStmt())
	case showing:
		return s.runShow(st.node.GetVariableShowStmt().GetName())
	case transaction:
		tag, err := s.transact(st.node.GetTransactionStmt())
		return &result{tag: tag}, err
	case discarding:
		return s.runDiscard(st.node.GetDiscardStmt())
	case deallocating:
		return s.runDeallocate(st.node.GetDeallocateStmt())
	}
	return nil, internal()
}

// ask makes a question of a text.
func (s *session) ask(sql string, values []argument, request string) discreet.Question {
	q := discreet.Question{Dataset: s.dataset.Name, Analyst: s.user.Name, SQL: sql, Settings: s.settings.now.dp, Request: request}
	for _, v := range values {
		q.Parameters = append(q.Parameters, v.parameter)
	}
	return q
}

func (s *session) runQuestion(st *statement, values []argument) (*result, error) {
	q := s.ask(st.sql(), values, s.settings.take())
	out := &result{tag: "SELECT", columns: []column{}}
	err := s.running(func(ctx context.Context) (err error) {
		out.answer, err = s.server.asked.Ask(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range out.answer.Columns {
		out.columns = append(out.columns, column{c.Name, oidOf(c.Kind)})
	}
	out.rows = out.answer.Rows
	return out, nil
}

func (s *session) runCatalogue(st *statement, values []argument) (*result, error) {
	var given []catalog.Value
	for _, v := range values {
		given = append(given, v.value)
	}
	out := &result{tag: "SELECT", columns: []column{}}
	err := s.running(func(ctx context.Context) error {
		var r *catalog.Result
		err := s.server.options.Desk.Look(ctx, s.user.Name, func(ctx context.Context) (err error) {
			r, err = s.catalog.QueryTyped(ctx, st.sql(), st.given, given)
			return err
		})
		if err != nil {
			return err
		}
		for _, c := range r.Columns {
			out.columns = append(out.columns, column{c.Name, c.OID})
		}
		out.rows = r.Rows
		return nil
	})
	return out, err
}

// change sets a setting, and tells the client where that is what it expects.
func (s *session) change(name, value string, local bool) (err error) {
	s.restoring(func() {
		if local && !s.block.open {
			check := *s.settings
			check.now, check.kept = check.now.clone(), check.kept.clone()
			if err = check.set(name, value, true); err == nil {
				s.notice("WARNING", noTransaction, "SET LOCAL can only be used in transaction blocks", "")
			}
			return
		}
		err = s.settings.set(name, value, local)
	})
	return err
}

func (s *session) runSet(n *pg.VariableSetStmt) (*result, error) {
	out := &result{tag: "SET"}
	switch n.Kind {
	case pg.VariableSetKind_VAR_SET_VALUE:
		value := ""
		for i, a := range n.Args {
			text, ok := constant(a)
			if !ok {
				return nil, failure(notSupported, "this value cannot be set").hinting("write a text in quotes, or a number")
			}
			if i > 0 {
				value += ", "
			}
			value += text
		}
		switch n.Name {
		case "session_authorization":
			return nil, failure(notPermitted, "nobody becomes somebody else here").hinting("log in as that user")
		case "role":
			if value != "none" && value != s.user.Name {
				return nil, failure(notPermitted, "there are no roles to change to").hinting("log in as that user")
			}
			return out, nil
		}
		return out, s.change(n.Name, value, n.IsLocal)
	case pg.VariableSetKind_VAR_SET_DEFAULT, pg.VariableSetKind_VAR_RESET:
		if n.Kind == pg.VariableSetKind_VAR_RESET {
			out.tag = "RESET"
		}
		var err error
		s.restoring(func() { err = s.settings.reset(n.Name, n.IsLocal) })
		return out, err
	case pg.VariableSetKind_VAR_RESET_ALL:
		s.restoring(s.settings.resetAll)
		return &result{tag: "RESET"}, nil
	case pg.VariableSetKind_VAR_SET_MULTI:
		switch n.Name {
		case "TRANSACTION":
			return out, s.characterise(n.Args, true)
		case "SESSION CHARACTERISTICS":
			return out, s.characterise(n.Args, false)
		}
	case pg.VariableSetKind_VAR_SET_CURRENT:
		return out, nil
	}
	return nil, failure(notSupported, "this SET is not supported")
}

// constant reads a value of a SET.
func constant(n *pg.Node) (string, bool) {
	c := n.GetAConst()
	if c == nil {
		return "", false
	}
	switch v := c.Val.(type) {
	case *pg.A_Const_Ival:
		return strconv.FormatInt(int64(v.Ival.GetIval()), 10), true
	case *pg.A_Const_Fval:
		return v.Fval.GetFval(), true
	case *pg.A_Const_Sval:
		return v.Sval.GetSval(), true
	case *pg.A_Const_Boolval:
		return map[bool]string{true: "on", false: "off"}[v.Boolval.GetBoolval()], true
	}
	return "", false
}

func (s *session) runDiscard(n *pg.DiscardStmt) (*result, error) {
	switch n.Target {
	case pg.DiscardMode_DISCARD_ALL:
		if s.block.open {
			return nil, failure(activeTransaction, "DISCARD ALL cannot run inside a transaction block")
		}
		s.restoring(s.settings.resetAll)
		s.closePortals()
		s.closeStatements()
		return &result{tag: "DISCARD ALL"}, nil
	case pg.DiscardMode_DISCARD_PLANS:
		return &result{tag: "DISCARD PLANS"}, nil
	case pg.DiscardMode_DISCARD_SEQUENCES:
		return &result{tag: "DISCARD SEQUENCES"}, nil
	}
	return &result{tag: "DISCARD TEMP"}, nil
}

func (s *session) runDeallocate(n *pg.DeallocateStmt) (*result, error) {
	if n.Isall {
		s.closeStatements()
		return &result{tag: "DEALLOCATE ALL"}, nil
	}
	if _, ok := s.statements[n.Name]; !ok {
		return nil, failure(invalidStatement, "prepared statement %q does not exist", clip(n.Name))
	}
	s.closeStatement(n.Name)
	return &result{tag: "DEALLOCATE"}, nil
}
