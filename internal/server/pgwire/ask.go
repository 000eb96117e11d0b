package pgwire

import (
	"context"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pgcatalog"
	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/server/admission"
)

// asker asks for a user: the data, through the dispatcher, and the catalogue.
type asker struct {
	identity
	questions  questions
	dispatcher *admission.Dispatcher
	catalog    *pgcatalog.Catalog
	settings   *settings
	block      *block
	memory     *heldMemory
	execution  *execution
}

// questions is the dispatcher, or a slow one in tests.
type questions interface {
	Ask(context.Context, api.Question) (*api.Answer, error)
	Explain(context.Context, api.Question) (*api.Explanation, error)
	Describe(context.Context, api.Question) (*api.Description, error)
}

// waitToRead does what costs as much as reading so many bytes of text, when it is the user's turn.
func (a *asker) waitToRead(bytes int, do func()) error {
	return a.execution.run(func(ctx context.Context) error { return a.dispatcher.Read(ctx, a.user.Name, bytes, do) })
}

func (a *asker) read(text string) (all []*statement, err error) {
	var unreadable error
	if err := a.waitToRead(len(text), func() { all, unreadable = splitStatements(text) }); err != nil {
		return nil, err
	}
	return all, unreadable
}

func (a *asker) question(st *statement, sql string, values []argument, request string) api.Question {
	q := api.Question{Dataset: a.dataset.Name, Analyst: a.user.Name, SQL: sql, Parsed: st.question,
		Settings: st.settingsFrom(a.settings.current.dp), Request: request, Now: a.block.now()}
	for _, v := range values {
		q.Parameters = append(q.Parameters, v.question)
	}
	return q
}

func (a *asker) runQuestion(st *statement, values []argument) (*result, error) {
	return a.answer(st, a.question(st, st.sql(), values, st.own.request(a.settings.takeRequestName())))
}

// refuseChanged refuses a question that the policy of now gives other columns than were described,
// in the words that drivers know: they describe it anew.
func (a *asker) refuseChanged(st *statement) error {
	now := a.dispatcher.DB().Policy()
	if !st.described || st.policy == now {
		return nil
	}
	_, columns, err := a.describeQuestion(st, st.sql())
	if err != nil {
		return err
	}
	if !slices.Equal(columns, st.columns) {
		return failure(notSupported, "cached plan must not change result type").
			withHint("the policy has changed; prepare the statement again")
	}
	st.policy = now
	return nil
}

// answer asks a question. Whatever a statement makes of its answer, it comes through here.
func (a *asker) answer(st *statement, q api.Question) (*result, error) {
	if err := a.refuseChanged(st); err != nil { // before anything is paid
		return nil, err
	}
	if err := a.memory.share.Take(minAnswerBytes); err != nil {
		return nil, fullError(err)
	}
	defer a.memory.share.Give(minAnswerBytes)
	out := &result{tag: "SELECT", columns: []column{}}
	err := a.execution.run(func(ctx context.Context) (err error) {
		out.answer, err = a.questions.Ask(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := a.refuseChanged(st); err != nil { // the policy may have changed meanwhile
		return nil, err
	}
	for _, c := range out.answer.Columns {
		out.columns = append(out.columns, columnOf(c))
	}
	if st.described && len(st.columns) == len(out.columns) {
		out.columns = st.columns // what was told does not change with the values of parameters
	}
	out.rows = out.answer.Rows
	return out, nil
}

func (a *asker) explain(q api.Question) (found *api.Explanation, err error) {
	err = a.execution.run(func(ctx context.Context) (err error) {
		found, err = a.questions.Explain(ctx, q)
		return err
	})
	return found, err
}

func (a *asker) describeQuestion(st *statement, sql string) (parameters []uint32, columns []column, err error) {
	q := a.question(st, sql, nil, "")
	for _, t := range st.givenTypes {
		kind := ""
		if t != 0 && t != unknownOID {
			kind = kindOf(t)
		}
		q.Kinds = append(q.Kinds, kind)
	}
	err = a.execution.run(func(ctx context.Context) error {
		d, err := a.questions.Describe(ctx, q)
		if err != nil {
			return err
		}
		for _, k := range d.Parameters {
			parameters = append(parameters, oidOf(k))
		}
		columns = []column{}
		for _, c := range d.Columns {
			columns = append(columns, columnOf(c))
		}
		return nil
	})
	return parameters, columns, err
}

func (a *asker) runCatalogue(st *statement, values []argument) (*result, error) {
	var given []datum.Value
	for _, v := range values {
		given = append(given, v.catalogue)
	}
	out := &result{tag: "SELECT"}
	err := a.lookUp(func(ctx context.Context) error {
		r, err := a.catalog.Query(ctx, st.sql(), st.givenTypes, given)
		if err == nil {
			out.columns, out.rows = columnsOf(r.Columns), r.Rows
		}
		return err
	})
	return out, err
}

func (a *asker) lookUp(work func(context.Context) error) error {
	return a.execution.run(func(ctx context.Context) error { return a.dispatcher.RunLookup(ctx, a.user.Name, work) })
}

func (a *asker) describeCatalogue(sql string, given []uint32) (parameters []uint32, columns []column, err error) {
	err = a.lookUp(func(context.Context) error {
		var found []datum.Column
		if parameters, found, err = a.catalog.Describe(sql, given); err == nil {
			columns = columnsOf(found)
		}
		return err
	})
	return parameters, columns, err
}

// columnsOf are the catalogue's columns as they are sent; none is not nil, which would be no rows
// at all.
func columnsOf(all []datum.Column) []column {
	out := []column{}
	for _, c := range all {
		out = append(out, column{name: c.Name, oid: c.OID})
	}
	return out
}
