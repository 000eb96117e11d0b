package pgwire

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pgcatalog"
	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

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

type runner struct {
	identity
	asker        *asker
	describer    *describer
	objects      *objectStore
	transactions *transactions
	views        *temporaryViews
	settings     *settings
	out          *clientWriter
	execution    *execution

	several bool // whether the message has more than one statement
}

func (r *runner) run(st *statement, values []argument) (*result, error) {
	switch st.kind {
	case questionStatement:
		return r.asker.runQuestion(st, values)
	case catalogueStatement:
		return r.asker.runCatalogue(st, values)
	case explainStatement:
		return r.runExplain(st, values)
	case setStatement:
		return r.runSet(st.node.GetVariableSetStmt())
	case showStatement:
		return r.runShow(st.node.GetVariableShowStmt().GetName())
	case transactionStatement:
		tag, err := r.transactions.run(st.node.GetTransactionStmt())
		return &result{tag: tag}, err
	case discardStatement:
		return r.runDiscard(st.node.GetDiscardStmt())
	case deallocateStatement:
		return r.runDeallocate(st.node.GetDeallocateStmt())
	case closeStatement:
		return r.runClose(st.node.GetClosePortalStmt())
	case listenStatement:
		return r.runListen(st.node), nil
	case createViewStatement:
		return r.runView(st)
	case dropViewStatement:
		return r.runDrop(st.node.GetDropStmt())
	case copyStatement:
		return r.runCopy(st, values)
	case declareStatement:
		return r.runDeclare(st, values)
	case fetchStatement:
		return r.runFetch(st.node.GetFetchStmt())
	case prepareStatement:
		return r.runPrepare(st)
	case executeStatement:
		return r.runExecute(st.node.GetExecuteStmt())
	}
	return nil, internalFailure()
}

// settingsFrom are the settings of a statement: its own, and else the session's, with which the
// answer has the columns that were described. A client that has prepared a statement reads its
// answers as they were when it did.
func (st *statement) settingsFrom(now api.Settings) api.Settings {
	now = st.own.apply(now)
	if st.described {
		now.Errors = st.errorColumns
	}
	return now
}

func (r *runner) runPortal(p *portal) error {
	if p.cursor != nil {
		return r.runCursor(p)
	}
	out, err := r.run(p.st, p.values)
	if err != nil {
		return err
	}
	shown := out.columns
	if p.st.described && out.copy == nil {
		// What was described is what is sent.
		if shown = p.st.columns; len(p.st.columns) != len(out.columns) {
			return internalFailure()
		}
	}
	return r.objects.setResult(p, out, shown)
}

// routePrepare takes PREPARE name (types) AS SELECT. Its parameters are those of the SELECT, and
// get their values from EXECUTE.
func (r *router) routePrepare(st *statement, n *pg.PrepareStmt) error {
	if len(n.Argtypes) > maxParameters {
		return failure(tooComplex, "a statement can have at most %d parameters", maxParameters)
	}
	var given []uint32
	for _, a := range n.Argtypes {
		t := typeNamed(a.GetTypeName())
		if t == 0 {
			return failure(undefinedObject, "the type of parameter $%d does not exist", len(given)+1)
		}
		given = append(given, t)
	}
	if err := r.enclose(st, n.Query, pg.Token_AS); err != nil {
		return err
	}
	st.inner.name, st.inner.givenTypes, st.inner.fromPrepare = n.Name, given, true
	st.parameterCount = 0
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

func (r *runner) runPrepare(st *statement) (*result, error) {
	if err := checkName(st.inner.name); err != nil {
		return nil, err
	}
	if r.objects.statements[st.inner.name] != nil {
		return nil, failure(duplicateStatement, "prepared statement %q already exists", shorten(st.inner.name))
	}
	if err := r.describer.describeInner(st); err != nil {
		return nil, err
	}
	kept := st.detachInner() // with what was described
	kept.question = st.inner.question
	if err := r.objects.keepStatement(kept); err != nil {
		return nil, err
	}
	return &result{tag: "PREPARE"}, nil
}

// runExecute runs a prepared statement, whoever has prepared it: a PREPARE, or a message of the
// protocol.
func (r *runner) runExecute(n *pg.ExecuteStmt) (*result, error) {
	st, values, err := r.describer.findPrepared(n)
	if err != nil {
		return nil, err
	}
	out, err := r.run(st, values)
	if err != nil {
		return nil, dropPosition(err)
	}
	if st.described && len(st.columns) == len(out.columns) {
		out.columns = st.columns
	}
	return out, nil
}

// view is what a CREATE TEMPORARY VIEW says beside its SELECT.
type view struct {
	name    string
	columns []string // names for the first of its columns
}

// routeView takes CREATE TEMPORARY VIEW, with which tools learn the columns of a SELECT: it is
// described, which is free, and stands in the session's own catalogue. It is never asked by its
// name, so that a question has one text, which says all of it.
func (r *router) routeView(st *statement, n *pg.ViewStmt) error {
	if n.View.GetRelpersistence() != "t" {
		return refuseStatement(&pg.Node{Node: &pg.Node_ViewStmt{ViewStmt: n}})
	}
	st.view = view{name: n.View.GetRelname()}
	for _, a := range n.Aliases {
		st.view.columns = append(st.view.columns, a.GetString_().GetSval())
	}
	return r.enclose(st, n.Query, pg.Token_AS)
}

func (r *runner) runView(st *statement) (*result, error) {
	if err := r.describer.describeInner(st); err != nil {
		return nil, err
	}
	if len(st.view.columns) > len(st.inner.columns) {
		return nil, failure(syntaxError, "the view has more names than columns")
	}
	var columns []datum.Column
	for i, c := range st.inner.columns {
		if i < len(st.view.columns) {
			c.name = st.view.columns[i]
		}
		columns = append(columns, datum.Column{Name: c.name, OID: c.oid})
	}
	if err := r.views.catalog.AddView(st.view.name, st.inner.sql(), columns); err != nil {
		return nil, err
	}
	if err := r.views.recount(); err != nil {
		r.views.drop(st.view.name)
		return nil, err
	}
	return &result{tag: "CREATE VIEW"}, nil
}

// temporaryViews are those in the catalogue of one connection.
type temporaryViews struct {
	catalog *pgcatalog.Catalog
	memory  *heldMemory
	bytes   int // that they are counted with
}

func (v *temporaryViews) recount() error {
	size := v.catalog.ViewBytes()
	if err := v.memory.keep(size - v.bytes); err != nil {
		return err
	}
	v.bytes = size
	return nil
}

// drop drops temporary views, all where none is named.
func (v *temporaryViews) drop(names ...string) (found bool) {
	found = v.catalog.DropViews(names...)
	v.recount() // which can only be less
	return found
}

func (r *runner) runDrop(n *pg.DropStmt) (*result, error) {
	for _, o := range n.Objects {
		parts := o.GetList().GetItems()
		name := parts[len(parts)-1].GetString_().GetSval()
		switch {
		case r.views.drop(name):
		case !n.MissingOk:
			return nil, failure(readOnly, "there is no temporary view %q, and nothing else can be dropped here", shorten(name))
		}
	}
	return &result{tag: "DROP VIEW"}, nil
}

func (r *router) refuseView(n *pg.SelectStmt) error {
	if name := r.catalog.ReadsTemporary(n); name != "" {
		return failure(notSupported, "you can look at the temporary view %q, but not ask about it", shorten(name)).
			withHint("write its SELECT in FROM or in WITH")
	}
	return nil
}

func (r *runner) runDiscard(n *pg.DiscardStmt) (*result, error) {
	switch n.Target {
	case pg.DiscardMode_DISCARD_ALL:
		if r.transactions.block.open {
			return nil, failure(activeTransaction, "DISCARD ALL cannot run inside a transaction block")
		}
		r.out.reportChanges(r.settings.resetAll)
		r.objects.closePortals()
		r.objects.closeStatements()
		r.views.drop()
		return &result{tag: "DISCARD ALL"}, nil
	case pg.DiscardMode_DISCARD_PLANS:
		return &result{tag: "DISCARD PLANS"}, nil
	case pg.DiscardMode_DISCARD_SEQUENCES:
		return &result{tag: "DISCARD SEQUENCES"}, nil
	}
	r.views.drop()
	return &result{tag: "DISCARD TEMP"}, nil
}

func (r *runner) runClose(n *pg.ClosePortalStmt) (*result, error) {
	if n.Portalname == "" {
		r.objects.closePortals()
		return &result{tag: "CLOSE CURSOR ALL"}, nil
	}
	if r.objects.portals[n.Portalname] == nil {
		return nil, failure(invalidCursor, "cursor %q does not exist", shorten(n.Portalname))
	}
	r.objects.closePortal(n.Portalname)
	return &result{tag: "CLOSE CURSOR"}, nil
}

// runListen does nothing, because there is nothing of what the statement waits for, ends or defers.
func (r *runner) runListen(n *pg.Node) *result {
	switch {
	case n.GetListenStmt() != nil:
		r.settings.say("sessions cannot notify one another here, so you will hear nothing")
		return &result{tag: "LISTEN"}
	case n.GetUnlistenStmt() != nil:
		return &result{tag: "UNLISTEN"}
	}
	return &result{tag: "SET CONSTRAINTS"}
}

func (r *runner) runDeallocate(n *pg.DeallocateStmt) (*result, error) {
	if n.Isall {
		r.objects.closeStatements()
		return &result{tag: "DEALLOCATE ALL"}, nil
	}
	if _, ok := r.objects.statements[n.Name]; !ok {
		return nil, failure(invalidStatement, "prepared statement %q does not exist", shorten(n.Name))
	}
	r.objects.closeStatement(n.Name)
	return &result{tag: "DEALLOCATE"}, nil
}
