package pgwire

import (
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pgcatalog"
)

// protocol does what the messages of a client who is logged in say, of the simple protocol and of
// the extended one.
type protocol struct {
	packets      *packetConn
	out          *clientWriter
	execution    *execution
	memory       *heldMemory
	objects      *objectStore
	transactions *transactions
	asker        *asker
	router       *router
	describer    *describer
	runner       *runner

	skipping bool // to the next Sync, after an error
}

func newProtocol(s *Server, who identity, out *clientWriter, running *execution) *protocol {
	dispatcher := s.options.Dispatcher
	held := &heldMemory{share: s.options.Held.Share(who.user.Name, maxHeldBytes), most: s.maxKept}
	objects := &objectStore{memory: held, statements: map[string]*statement{}, portals: map[string]*portal{}}
	blocks := &transactions{settings: out.settings, objects: objects, out: out}
	tables := pgcatalog.New(dispatcher.DB().Policy(), who.dataset.Name, pgcatalog.Session{
		User: who.user.Name, Database: who.dataset.Name, PID: int32(running.pid), Version: s.options.Version,
		Setting: out.settings.show, Names: append(api.SettingNames(), requestSetting), Set: blocks.change,
		Kept: objects.names,
	})
	asks := &asker{identity: who, questions: s.questions, dispatcher: dispatcher, catalog: tables, settings: out.settings,
		block: &blocks.block, memory: held, execution: running}
	shapes := &describer{asker: asks, objects: objects, memory: held, settings: out.settings, out: out}
	return &protocol{packets: out.packets, out: out, execution: running, memory: held, objects: objects, transactions: blocks,
		asker: asks, router: &router{identity: who, catalog: tables, settings: out.settings}, describer: shapes,
		runner: &runner{identity: who, asker: asks, describer: shapes, objects: objects, transactions: blocks,
			views: &temporaryViews{catalog: tables, memory: held}, settings: out.settings, out: out, execution: running}}
}

// handle does what a message says. An error that it returns ends the session.
func (pr *protocol) handle(message pgproto3.FrontendMessage) error {
	switch m := message.(type) {
	case *pgproto3.Query:
		pr.skipping = false
		return pr.simple(m.String)
	case *pgproto3.Sync:
		return pr.sync()
	case *pgproto3.Flush:
		return pr.out.flush()
	case *pgproto3.CopyData, *pgproto3.CopyDone, *pgproto3.CopyFail:
		return nil // left over from a COPY that was refused
	case *pgproto3.FunctionCall:
		if err := pr.fail(failure(notSupported, "function calls are not supported").withHint("write a SELECT"), "", 0); err != nil {
			return err
		}
		pr.ready()
		return pr.out.flush()
	case *pgproto3.Parse, *pgproto3.Bind, *pgproto3.Describe, *pgproto3.Execute, *pgproto3.Close:
		if pr.skipping {
			return nil
		}
		return pr.extended(message)
	}
	return fatal(protocolViolation, "this message does not belong here")
}

func (pr *protocol) ready() {
	pr.packets.send(&pgproto3.ReadyForQuery{TxStatus: pr.transactions.block.status()})
}

// fail tells an error, and what it does to a block. What it returns ends the session.
func (pr *protocol) fail(err error, text string, offset int) error {
	if errors.Is(err, errSilent) {
		return err
	}
	e := toWireError(context.Background(), err)
	if e.severity == "FATAL" {
		return e
	}
	pr.packets.send(e.response(text, offset))
	pr.transactions.block.fail()
	return nil
}

// simple answers a Query message: all of its statements, up to the first that fails.
func (pr *protocol) simple(text string) error {
	pr.objects.closePortal("") // as PostgreSQL does
	pr.objects.closeStatement("")
	offset, err := pr.runEach(text)
	if err != nil {
		if err := pr.fail(err, text, offset); err != nil {
			return err
		}
	}
	if !pr.transactions.block.open {
		pr.objects.endPortals(pr.objects.declared)
	}
	pr.ready()
	return pr.out.flush()
}

// runEach runs the statements of a text, and returns where the one is that failed.
func (pr *protocol) runEach(text string) (offset int, err error) {
	all, err := pr.asker.read(text)
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		pr.packets.send(&pgproto3.EmptyQueryResponse{})
		return 0, nil
	}
	trees := treeBytesPerWord * all[0].wordCount // which are there until the last statement is done
	if err := pr.memory.borrow(trees); err != nil {
		return 0, err
	}
	defer pr.memory.giveBack(trees)
	pr.runner.several = len(all) > 1
	defer func() { pr.runner.several = false }()
	for _, st := range all {
		if err := pr.runOne(st); err != nil {
			return st.from, err
		}
	}
	return 0, nil
}

// runOne runs a statement and sends what it returns, as text.
func (pr *protocol) runOne(st *statement) error {
	if err := pr.transactions.refuseInFailedBlock(st); err != nil {
		return err
	}
	if err := pr.execution.checkUser(); err != nil {
		return err
	}
	if err := pr.router.route(st); err != nil {
		return err
	}
	if st.parameterCount > 0 {
		return failure("42P02", "there is no parameter $%d", st.parameterCount).withHint("parameters need the extended protocol")
	}
	r, err := pr.runner.run(st, nil)
	if err != nil {
		return err
	}
	if !r.shared {
		size := r.size()
		if err := pr.memory.share.Take(size); err != nil {
			return fullError(err)
		}
		defer pr.memory.share.Give(size)
	}
	return pr.memory.whileSending(r.rows, func() error { return pr.out.sendResult(r) })
}

// extended does a message of the extended protocol. After an error, everything up to the next Sync
// is passed over.
func (pr *protocol) extended(message pgproto3.FrontendMessage) error {
	var err error
	text, offset := "", 0
	switch m := message.(type) {
	case *pgproto3.Parse:
		text = m.Query
		offset, err = pr.parse(m)
	case *pgproto3.Bind:
		text, offset, err = pr.bind(m)
	case *pgproto3.Describe:
		text, offset, err = pr.describe(m)
	case *pgproto3.Execute:
		text, offset, err = pr.execute(m)
	case *pgproto3.Close:
		err = pr.closeObject(m)
	}
	if err == nil {
		return pr.out.checkWritten()
	}
	pr.skipping = true
	if err := pr.fail(err, text, offset); err != nil {
		return err
	}
	return pr.out.flush() // so that nobody waits for it who sends no Sync yet
}

func (pr *protocol) sync() error {
	pr.skipping = false
	if !pr.transactions.block.open {
		pr.objects.endPortals(pr.objects.declared)
	}
	pr.ready()
	return pr.out.flush()
}

func checkName(name string) error {
	if len(name) > maxNameBytes || !utf8.ValidString(name) {
		return failure(invalidParameter, "the name of a statement or a portal can have at most %d bytes of UTF-8", maxNameBytes)
	}
	return nil
}

func (pr *protocol) parse(m *pgproto3.Parse) (offset int, err error) {
	if err := checkName(m.Name); err != nil {
		return 0, err
	}
	if m.Name == "" {
		pr.objects.closeStatement("")
	} else if pr.objects.statements[m.Name] != nil {
		return 0, failure(duplicateStatement, "prepared statement %q already exists", shorten(m.Name))
	}
	if len(m.ParameterOIDs) > maxParameters {
		return 0, failure(tooComplex, "a statement can have at most %d parameters", maxParameters)
	}
	all, err := pr.asker.read(m.Query)
	if err != nil {
		return 0, err
	}
	if len(all) > 1 {
		return 0, failure(syntaxError, "cannot insert multiple commands into a prepared statement")
	}
	st := &statement{text: m.Query, kind: emptyStatement}
	if len(all) == 1 {
		st = all[0]
		if err := pr.transactions.refuseInFailedBlock(st); err != nil {
			return st.from, err
		}
		if err := pr.router.route(st); err != nil {
			return st.from, err
		}
	}
	st.name, st.givenTypes = m.Name, slices.Clone(m.ParameterOIDs)
	if err := pr.objects.keepStatement(st); err != nil {
		return st.from, err
	}
	pr.packets.send(&pgproto3.ParseComplete{})
	return 0, nil
}

// bind makes a portal of a statement and values.
func (pr *protocol) bind(m *pgproto3.Bind) (text string, offset int, err error) {
	st := pr.objects.statements[m.PreparedStatement]
	if st == nil {
		return "", 0, failure(invalidStatement, "prepared statement %q does not exist", shorten(m.PreparedStatement))
	}
	text, offset = st.text, st.from
	if err := checkName(m.DestinationPortal); err != nil {
		return text, offset, err
	}
	if err := pr.transactions.refuseInFailedBlock(st); err != nil {
		return text, offset, err
	}
	if m.DestinationPortal == "" {
		pr.objects.closePortal("")
	} else if pr.objects.portals[m.DestinationPortal] != nil {
		return text, offset, failure(duplicateCursor, "cursor %q already exists", shorten(m.DestinationPortal))
	}
	values, err := pr.arguments(st, m)
	if err != nil {
		return text, offset, err
	}
	for _, c := range m.ResultFormatCodes {
		if c != pgtype.TextFormatCode && c != pgtype.BinaryFormatCode {
			return text, offset, failure(invalidParameter, "a result has an unknown format")
		}
	}
	if len(m.ResultFormatCodes) > 1 { // one for each column, which must be known then
		if err := pr.describer.describe(st); err != nil {
			return text, offset, err
		}
		if len(m.ResultFormatCodes) != len(st.columns) {
			return text, offset, failure(protocolViolation, "bind message has %d result formats but query has %d columns",
				len(m.ResultFormatCodes), len(st.columns))
		}
	}
	if err := pr.objects.keepPortal(&portal{name: m.DestinationPortal, st: st, values: values,
		codes: slices.Clone(m.ResultFormatCodes)}); err != nil {
		return text, offset, err
	}
	pr.packets.send(&pgproto3.BindComplete{})
	return "", 0, nil
}

func (pr *protocol) arguments(st *statement, m *pgproto3.Bind) ([]argument, error) {
	if n := len(m.ParameterFormatCodes); n > 1 && n != len(m.Parameters) {
		return nil, failure(protocolViolation, "bind message has %d parameter formats but %d parameters", n, len(m.Parameters))
	}
	want := max(st.parameterCount, len(st.givenTypes))
	if len(m.Parameters) != want {
		return nil, failure(protocolViolation, "bind message supplies %d parameters, but prepared statement %q requires %d",
			len(m.Parameters), shorten(st.name), want)
	}
	if want == 0 {
		return nil, nil
	}
	if err := pr.describer.describe(st); err != nil {
		return nil, err
	}
	values := make([]argument, want)
	for i, data := range m.Parameters {
		var err error
		if values[i], err = decode(pr.out.typeMap(), i+1, st.parameterTypes[i], formatCode(m.ParameterFormatCodes, i), data); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (pr *protocol) describe(m *pgproto3.Describe) (text string, offset int, err error) {
	var st *statement
	var codes []int16
	switch m.ObjectType {
	case 'S':
		if st = pr.objects.statements[m.Name]; st == nil {
			return "", 0, failure(invalidStatement, "prepared statement %q does not exist", shorten(m.Name))
		}
	case 'P':
		p := pr.objects.portals[m.Name]
		if p == nil {
			return "", 0, failure(invalidCursor, "portal %q does not exist", shorten(m.Name))
		}
		st, codes = p.st, p.codes
	default:
		return "", 0, failure(protocolViolation, "only statements and portals can be described")
	}
	if err := pr.transactions.refuseInFailedBlock(st); err != nil && st.kind != transactionStatement {
		return st.text, st.from, err
	}
	if err := pr.describer.describe(st); err != nil {
		return st.text, st.from, err
	}
	if m.ObjectType == 'S' {
		pr.packets.send(&pgproto3.ParameterDescription{ParameterOIDs: st.parameterTypes})
	}
	if st.columns == nil {
		pr.packets.send(&pgproto3.NoData{})
	} else {
		// It costs as much as a text of that length, and a few bytes ask for it. It is sent when
		// the place is given back: a client may take its time to read.
		var shape *pgproto3.RowDescription
		err := pr.asker.waitToRead(describedColumnBytes*len(st.columns), func() { shape = rowDescription(st.columns, codes) })
		if err != nil {
			return st.text, st.from, err
		}
		pr.packets.send(shape)
	}
	return "", 0, nil
}

// describedColumnBytes is what a column takes in a row description, about.
const describedColumnBytes = 32

func (pr *protocol) execute(m *pgproto3.Execute) (text string, offset int, err error) {
	p := pr.objects.portals[m.Portal]
	if p == nil {
		return "", 0, failure(invalidCursor, "portal %q does not exist", shorten(m.Portal))
	}
	st := p.st
	if st.kind == emptyStatement {
		pr.packets.send(&pgproto3.EmptyQueryResponse{})
		return "", 0, nil
	}
	if err := pr.transactions.refuseInFailedBlock(st); err != nil {
		return st.text, st.from, err
	}
	if err := pr.execution.checkUser(); err != nil {
		return st.text, st.from, err
	}
	if p.result == nil {
		if err := pr.runner.runPortal(p); err != nil {
			return st.text, st.from, err
		}
	} else if p.result.columns == nil {
		return st.text, st.from, failure(notInState, "portal %q cannot be run", shorten(m.Portal))
	}
	if p.result.copy != nil {
		r := *p.result
		err := pr.memory.whileSending(r.rows, func() error { return pr.out.sendCopy(&r) })
		p.result.columns, p.result.copy, p.result.rows, p.result.answer = nil, nil, nil, nil
		pr.memory.holdRows(p) // nothing, any more
		return st.text, st.from, err
	}
	return st.text, st.from, pr.sendRows(p, int64(m.MaxRows))
}

// sendRows sends the next rows of a portal, most of them at once.
func (pr *protocol) sendRows(p *portal, most int64) error {
	next := p.unsentRows()
	more := most > 0 && most < 1<<31 && int64(len(next)) > most
	if more {
		next = next[:most]
	}
	if err := pr.memory.whileSending(next, func() error { return pr.out.sendRows(p.sentColumns, p.codes, next) }); err != nil {
		return err
	}
	p.position += len(next)
	if more {
		if err := pr.memory.holdRows(p); err != nil {
			return err
		}
		pr.packets.send(&pgproto3.PortalSuspended{})
		return nil
	}
	pr.out.complete(p.result, len(next))
	if p.cursor == nil {
		p.result.rows = p.result.rows[:0:0]
		p.position = 0
	}
	return pr.memory.holdRows(p)
}

// closeObject closes a statement or a portal; what does not exist is closed already.
func (pr *protocol) closeObject(m *pgproto3.Close) error {
	switch m.ObjectType {
	case 'S':
		pr.objects.closeStatement(m.Name)
	case 'P':
		pr.objects.closePortal(m.Name)
	default:
		return failure(protocolViolation, "only statements and portals can be closed")
	}
	pr.packets.send(&pgproto3.CloseComplete{})
	return nil
}
