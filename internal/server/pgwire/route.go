package pgwire

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
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
	closing
	idling
	viewing
	dropping
	copying
	declaring
	fetching
	preparing
	executing
)

// route decides who answers a statement, from its tree, or refuses it.
func (s *session) route(st *statement) error {
	node, read := st.node, st.read
	defer func() { st.read = nil }()
	switch n := node.GetNode().(type) {
	case *pg.Node_SelectStmt:
		st.node = nil
		st.kind = question
		if s.catalog.About(n.SelectStmt) {
			st.kind = catalogue
		} else {
			if err := s.asksView(n.SelectStmt); err != nil {
				return err
			}
			st.question = syntax.NewText(read, n.SelectStmt, st.from, st.to)
		}
		return s.mayAsk(st.kind)
	case *pg.Node_ExplainStmt:
		st.kind, st.node = explaining, nil
		var err error
		if st.explained, err = s.readExplain(st, n.ExplainStmt); err != nil {
			return err
		}
		if st.explained.catalogue || st.explained.execute != nil {
			return nil
		}
		st.question = syntax.NewText(read, n.ExplainStmt.Query.GetSelectStmt(), st.from+st.explained.at, st.to)
		return s.mayAsk(question)
	case *pg.Node_CopyStmt:
		st.kind, st.node = copying, nil
		return s.routeCopy(st, n.CopyStmt)
	case *pg.Node_DeclareCursorStmt:
		st.kind, st.node = declaring, nil
		return s.routeDeclare(st, n.DeclareCursorStmt)
	case *pg.Node_PrepareStmt:
		st.kind, st.node = preparing, nil
		return s.routePrepare(st, n.PrepareStmt)
	case *pg.Node_ViewStmt:
		st.kind, st.node = viewing, nil
		return s.routeView(st, n.ViewStmt)
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
	case *pg.Node_ClosePortalStmt:
		st.kind = closing
	case *pg.Node_ListenStmt, *pg.Node_UnlistenStmt, *pg.Node_ConstraintsSetStmt:
		st.kind = idling
	case *pg.Node_DropStmt:
		return s.routeDrop(st, n.DropStmt)
	case *pg.Node_FetchStmt:
		st.kind = fetching
	case *pg.Node_ExecuteStmt:
		st.kind = executing
	default:
		return refused(node)
	}
	return nil
}

// mayAsk refuses the questions of owners who are no analysts.
func (s *session) mayAsk(k kind) error {
	if k == question && !s.analyst {
		return failure(notPermitted,
			"the policy does not list you as an analyst of this dataset, so you can look at the catalogue and ask nothing")
	}
	return nil
}

// refused says why a statement is for other servers.
func refused(node *pg.Node) error {
	const ask = "write a SELECT of aggregates, as in SELECT count(*) FROM table"
	switch node.GetNode().(type) {
	case *pg.Node_InsertStmt, *pg.Node_UpdateStmt, *pg.Node_DeleteStmt, *pg.Node_MergeStmt, *pg.Node_TruncateStmt,
		*pg.Node_CreateTableAsStmt, *pg.Node_CreateStmt,
		*pg.Node_DropStmt, *pg.Node_AlterTableStmt, *pg.Node_IndexStmt, *pg.Node_ViewStmt, *pg.Node_CreateSchemaStmt,
		*pg.Node_CreateSeqStmt, *pg.Node_CreateFunctionStmt,
		*pg.Node_RenameStmt, *pg.Node_CommentStmt, *pg.Node_RefreshMatViewStmt, *pg.Node_CreateExtensionStmt, *pg.Node_CreatedbStmt,
		*pg.Node_DropdbStmt:
		return failure(readOnly, "nothing can be written here").hinting(ask)
	case *pg.Node_GrantStmt, *pg.Node_GrantRoleStmt, *pg.Node_CreateRoleStmt, *pg.Node_AlterRoleStmt, *pg.Node_AlterRoleSetStmt,
		*pg.Node_DropRoleStmt, *pg.Node_AlterSystemStmt:
		return failure(notPermitted, "users and what they may do are for the owner of the data").hinting("the owner uses 'discreet " +
			"user', and the policy")
	case *pg.Node_NotifyStmt:
		return failure(notPermitted, "sessions tell one another nothing here")
	case *pg.Node_VacuumStmt:
		return failure(notPermitted, "nothing is written here, and no statistics of the data are gathered: they would tell about people").
			hinting(ask)
	case *pg.Node_LockStmt:
		return failure(notSupported, "there is nothing to lock: nobody writes")
	}
	return failure(notSupported, "this statement is not supported").hinting(ask)
}
