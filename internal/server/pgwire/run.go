package pgwire

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// result is what a statement returned.
type result struct {
	columns []column // nil where no rows come
	rows    [][]any
	tag     string  // of what counts rows it gets their number
	count   int     // of what has no rows to show and counts some
	codes   []int16 // formats of the columns, where the statement itself says so
	copy    *copyOptions
	answer  *api.Answer
	shared  bool // whether its rows are counted with a cursor
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
	case closing:
		return s.runClose(st.node.GetClosePortalStmt())
	case idling:
		return s.runIdle(st.node), nil
	case viewing:
		return s.runView(st)
	case dropping:
		return s.runDrop(st.node.GetDropStmt())
	case copying:
		return s.runCopy(st, values)
	case declaring:
		return s.runDeclare(st, values)
	case fetching:
		return s.runFetch(st.node.GetFetchStmt())
	case preparing:
		return s.runPrepare(st)
	case executing:
		return s.runExecute(st.node.GetExecuteStmt())
	}
	return nil, internal()
}

// ask makes a question of a statement.
func (s *session) ask(st *statement, sql string, values []argument, request string) api.Question {
	q := api.Question{Dataset: s.dataset.Name, Analyst: s.user.Name, SQL: sql, Parsed: st.question,
		Settings: st.shaped(s.settings.now.dp), Request: request, Now: s.block.now()}
	for _, v := range values {
		q.Parameters = append(q.Parameters, v.parameter)
	}
	return q
}

// shaped are settings with which the answer has the columns that were described: a client that has
// prepared a statement reads its answers as they were when it did.
func (st *statement) shaped(now api.Settings) api.Settings {
	if st.described {
		now.Errors = st.errors
	}
	return now
}

func (s *session) runQuestion(st *statement, values []argument) (*result, error) {
	return s.answer(s.ask(st, st.sql(), values, s.settings.take()))
}

// runAs runs what a cursor is for, with the settings of its DECLARE.
func (s *session) runAs(st *statement, values []argument, c *cursor) (*result, error) {
	if st.kind != question {
		return s.run(st, values)
	}
	q := s.ask(st, st.sql(), values, c.request)
	q.Settings = st.shaped(c.settings)
	return s.answer(q)
}

// answer asks a question. Whatever a statement makes of its answer, it comes through here.
func (s *session) answer(q api.Question) (*result, error) {
	if err := s.share.Take(leastAnswer); err != nil {
		return nil, full(err)
	}
	defer s.share.Give(leastAnswer)
	out := &result{tag: "SELECT", columns: []column{}}
	err := s.running(func(ctx context.Context) (err error) {
		out.answer, err = s.server.asked.Ask(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range out.answer.Columns {
		out.columns = append(out.columns, columnOf(c))
	}
	out.rows = out.answer.Rows
	return out, nil
}

func (s *session) runCatalogue(st *statement, values []argument) (*result, error) {
	var given []datum.Value
	for _, v := range values {
		given = append(given, v.value)
	}
	out := &result{tag: "SELECT"}
	err := s.looking(func(ctx context.Context) error {
		r, err := s.catalog.Query(ctx, st.sql(), st.given, given)
		if err == nil {
			out.columns, out.rows = columnsOf(r.Columns), r.Rows
		}
		return err
	})
	return out, err
}

// looking looks at the catalogue when it is the user's turn.
func (s *session) looking(look func(context.Context) error) error {
	return s.running(func(ctx context.Context) error { return s.server.options.Dispatcher.Look(ctx, s.user.Name, look) })
}

// columnsOf are the catalogue's columns as they are sent; none is not nil, which would be no rows
// at all.
func columnsOf(all []datum.Column) []column {
	out := []column{}
	for _, c := range all {
		out = append(out, column{c.Name, c.OID})
	}
	return out
}
