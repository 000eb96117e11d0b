package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/policy"
)

// Dispatcher takes questions. It is safe for concurrent use.
type Dispatcher struct {
	db          *discreet.DB
	library     library
	onlyDataset string // the only dataset, where there is one; it need not be named
	runner      *runner
	ticks       *ticks
	looks       *queue  // for the catalogue
	lookRate    *limits // of looks
	reads       *queue  // for texts that are not read yet
	readRate    *limits // of these
	sessions    *Sessions
	models      *Models
}

// New returns the dispatcher of an open policy.
func New(db *discreet.DB, o Options) *Dispatcher {
	d := newDispatcher(db.Policy(), databaseLibrary{db}, o)
	d.db, d.runner.underway = db, db.Underway()
	d.runner.queue.isSuspect = d.runner.underway.Suspected
	return d
}

func newDispatcher(p *policy.Policy, l library, o Options) *Dispatcher {
	o = o.withDefaults()
	r := newRunner(p, o)
	d := &Dispatcher{
		library: l, runner: r, ticks: r.ticks,
		looks: newQueue(maxLooksAtOnce, maxLooksWaiting), lookRate: newLimits(p, "looks at the catalogue", looksPerQuestion*o.Rate),
		reads: newQueue(maxReadsAtOnce, maxReadsWaiting), readRate: newLimits(p, "texts", max(textsPerQuestion*o.Rate, minTextsPerMinute)),
	}
	for name := range p.Datasets {
		if len(p.Datasets) == 1 {
			d.onlyDataset = name
		}
	}
	d.sessions = &Sessions{library: l, runner: r, ticks: r.ticks, onlyDataset: d.onlyDataset, open: newRegistry(o.Sessions, o.Idle)}
	d.models = &Models{library: l, runner: r, ticks: r.ticks, onlyDataset: d.onlyDataset, look: d.RunLookup}
	return d
}

// Follow gives the analysts of another policy limits of their own; the rest stays as it is until a
// restart.
func (d *Dispatcher) Follow(p *policy.Policy) {
	for _, l := range []*limits{d.runner.limits, d.lookRate, d.readRate} {
		l.follow(p)
	}
}

// Sessions has the interactive mechanisms. They take the same turns as questions.
func (d *Dispatcher) Sessions() *Sessions { return d.sessions }

// Models trains models, and finds those that were trained.
func (d *Dispatcher) Models() *Models { return d.models }

// DB is the policy that the dispatcher is for; asking it directly goes around the queue.
func (d *Dispatcher) DB() *discreet.DB { return d.db }

// Ask waits for a turn, asks, and waits for the tick where the policy has one. Errors are those of
// [discreet.DB.Ask] and those of this package.
//
// Of what is asked only where it is free, what is in memory, and a price, need no turn, as always;
// what is free and has to be put together, by a query around answers or by a stream, waits for one.
// It begins and leaves on a tick like everything else, and sees what was kept by then.
//
// A question whose limits are to be chosen from an answer that nobody has paid for yet asks for
// that one first. The two are two questions, each with its turn, and each leaves at its own time.
func (d *Dispatcher) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	q.Request = Request(q.Analyst, q.Request)
	if !q.Alone && !q.Free {
		first, then, err := d.first(ctx, q)
		if err != nil {
			return nil, err
		}
		q = then
		if first != nil {
			before, err := d.askAlone(ctx, *first)
			if err != nil {
				return nil, err
			}
			q.Count = before
			a, err := d.askAlone(ctx, q)
			if err == nil {
				a.NoteFirst(before)
			}
			return a, before.After(err)
		}
	}
	return d.askAlone(ctx, q)
}

// first looks for what has to be asked before a question.
func (d *Dispatcher) first(ctx context.Context, q api.Question) (first *api.Question, then api.Question, err error) {
	if !d.library.MayChoose(q) {
		return nil, q, nil
	}
	then = q
	err = d.runner.serveFree(ctx, d.entry("limits", q), func(ctx context.Context, e *entry) (err error) {
		e.outcome = priced
		asked := q
		asked.AsOf = d.ticks.last(e.dataset)
		first, then, err = d.library.First(ctx, asked)
		then.AsOf = q.AsOf
		return err
	})
	return first, then, err
}

// askAlone asks a question before which nothing has to be asked.
func (d *Dispatcher) askAlone(ctx context.Context, q api.Question) (*api.Answer, error) {
	q.Alone = true
	var a *api.Answer
	var price *api.PriceError
	e := d.entry("ask", q)
	if q.Free {
		e.kind = "free"
	}
	e.recall = func(ctx context.Context) (found bool) {
		q := q
		q.AsOf = d.ticks.last(e.dataset)
		if a, found = d.library.Remembered(ctx, q); found {
			e.setCost(a.Cost, a.Receipt.Sequence)
			return true
		}
		if !q.Free {
			return false
		}
		if x, err := d.library.Explain(ctx, q); err == nil && !x.Known {
			d.ticks.roundDeadline(x, e.dataset)
			e.outcome, price = priced, &api.PriceError{Explanation: x}
		}
		return price != nil
	}
	err := d.runner.serve(ctx, e, func(ctx context.Context, e *entry) (err error) {
		q.AsOf = d.ticks.last(e.dataset)
		if a, err = d.library.Ask(ctx, q); err == nil {
			e.setCost(a.Cost, a.Receipt.Sequence)
		}
		return err
	})
	if err == nil && price != nil {
		err = price
	}
	return orError(&a, err)
}

// Explain prices a question. It counts as a question in what an analyst may ask in a minute, and
// waits for a turn and for the tick: the state of the data is looked at, to say what would be free.
func (d *Dispatcher) Explain(ctx context.Context, q api.Question) (*api.Explanation, error) {
	var x *api.Explanation
	q.Request = Request(q.Analyst, q.Request) // or what others call theirs could be named
	err := d.runner.serveFree(ctx, d.entry("explain", q), func(ctx context.Context, e *entry) (err error) {
		e.outcome = priced
		q.AsOf = d.ticks.last(e.dataset)
		x, err = d.library.Explain(ctx, q)
		return err
	})
	if err == nil {
		d.ticks.roundDeadline(x, cmp.Or(q.Dataset, d.onlyDataset))
	}
	return orError(&x, err)
}

// Describe says what an answer would look like. It counts, and waits, like Explain.
func (d *Dispatcher) Describe(ctx context.Context, q api.Question) (*api.Description, error) {
	var x *api.Description
	err := d.runner.serveFree(ctx, d.entry("describe", q), func(ctx context.Context, e *entry) (err error) {
		e.outcome = described
		x, err = d.library.Describe(ctx, q)
		return err
	})
	return orError(&x, err)
}

func (d *Dispatcher) entry(kind string, q api.Question) *entry {
	return &entry{kind: kind, analyst: q.Analyst, dataset: cmp.Or(q.Dataset, d.onlyDataset), text: q.SQL}
}

// orError makes sure that nobody gets something beside an error. What there is is not looked at
// then: the work on a question that was stopped goes on until its deadline.
func orError[T any](x **T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return *x, nil
}

// What looking at the catalogue may take. It is no question: it costs nothing, sees no data, and
// needs no tick. But clients look often, and hostile ones can make each look cost seconds, and read
// off them how busy the machine is: so what takes long leaves when the schedule has given it that.
const (
	maxLooksAtOnce   = 2   // at once, and one for each user
	maxLooksWaiting  = 200 // of one user, who may have a hundred connections
	looksPerQuestion = 10  // so many times as often as questions
	lookTimeout      = 10 * time.Second
)

// Look waits for a turn and looks: at something that is made from the policy. Errors are those of
// the look, a [*LimitError], which one that takes too long gets too, ErrWithdrawn and ErrEnding.
func (d *Dispatcher) RunLookup(ctx context.Context, user string, look func(context.Context) error) error {
	if err := d.lookRate.wait(ctx, user, 1, d.runner.options.Patience, d.runner.queue.closing); err != nil {
		return err
	}
	who := d.lookRate.nameOf(user)
	if err := d.looks.enter(who); err != nil {
		return err
	}
	defer d.looks.exit(who)
	if err := d.looks.wait(ctx, who); err != nil {
		return err
	}
	defer d.looks.endTurn(who)
	defer d.runner.underway.Begin("", user)()
	ctx, stop := context.WithTimeoutCause(ctx, lookTimeout, ErrTimeout)
	defer stop()
	late := false
	worked, err := d.ticks.schedule.Beside(ctx, d.ticks.anyDeadline(), func(ctx context.Context) error {
		err := look(ctx)
		late = err != nil && context.Cause(ctx) == ErrTimeout // and not while it waits until it may leave
		return err
	})
	d.lookRate.add(user, int(worked/lookTimePerLook), 2) // one can take longer than what may come at once is worth
	if !late {
		return err
	}
	return &LimitError{Reason: fmt.Sprintf("what needs only the policy may take %v, and this takes longer; nothing was charged; ask for "+
		"less", lookTimeout)}
}

// What reading texts may take: what they are is known only when they are read, and one that cannot
// be read is no question. Honest clients send a few texts for each question, and hostile ones
// garbage on all of their connections.
const (
	maxReadsAtOnce    = 2       // at once, and one for each user
	maxReadsWaiting   = 200     // of one user, who may have a hundred connections
	textsPerQuestion  = 10      // so many texts for each question that an analyst may ask in a minute
	minTextsPerMinute = 6000    // texts a minute, where questions are few
	bytesPerText      = 4 << 10 // of a text that count as one
	// textsPerRequest is as how many texts a request of HTTP counts. Pages send some dozens at
	// once.
	textsPerRequest = 5
)

// Read waits for a turn and reads a text of so many bytes. It counts against the user's texts a
// minute. Errors are a [*LimitError], ErrWithdrawn and ErrEnding.
func (d *Dispatcher) Read(ctx context.Context, user string, bytes int, read func()) error {
	if err := d.readRate.wait(ctx, user, 1+bytes/bytesPerText, d.runner.options.Patience, d.runner.queue.closing); err != nil {
		return err
	}
	leave, err := takePlace(ctx, d.reads, d.readRate.nameOf(user))
	if err != nil {
		return err
	}
	defer leave()
	_, err = d.ticks.schedule.Beside(ctx, d.ticks.anyDeadline(), func(context.Context) error {
		read()
		return nil
	})
	return err
}

// AdmitRequest counts a request of HTTP of so many bytes, which takes more than to read a text, and
// does not read it.
func (d *Dispatcher) AdmitRequest(ctx context.Context, user string, bytes int) error {
	return d.readRate.wait(ctx, user, textsPerRequest+bytes/bytesPerText, d.runner.options.Patience, d.runner.queue.closing)
}

// errUnfinished: Drain was not given enough time.
var errUnfinished = errors.New("questions are still running; what was charged for them stays charged")

// Drain takes no more questions, sends those away that wait, and waits for those that have their
// turn: they are paid for. It returns nil when what came of all of them has left, and an error when
// ctx ends first. It can be called again.
//
// When ctx ends nothing waits for its tick any longer. A tick can be longer than the time that a
// server has for ending, and one that is killed because it waits counts as one that crashed.
func (d *Dispatcher) Drain(ctx context.Context) error {
	d.runner.gate.end()
	d.runner.trainings.close() // who waits there is inside of the other one
	nothing := d.runner.queue.close()
	select {
	case <-nothing:
		return nil
	default:
	}
	select {
	case <-nothing:
		return nil
	case <-ctx.Done():
		d.ticks.clock.end()
		return errUnfinished
	}
}

// Request is the ledger's name for what an analyst calls a request. It begins with who asks, so
// that nobody can take another's names away, or see whether they are taken. No analyst's name has a
// colon. What has no name gets none.
func Request(analyst, name string) string {
	if name == "" {
		return ""
	}
	return analyst + ":" + name
}

// RequestName is what the analyst calls it.
func RequestName(analyst, request string) string { return strings.TrimPrefix(request, analyst+":") }

// library is what a dispatcher asks: an open policy, or less in tests.
type library interface {
	MayChoose(api.Question) bool
	First(context.Context, api.Question) (first *api.Question, then api.Question, err error)
	Ask(context.Context, api.Question) (*api.Answer, error)
	Remembered(context.Context, api.Question) (*api.Answer, bool)
	Explain(context.Context, api.Question) (*api.Explanation, error)
	Describe(context.Context, api.Question) (*api.Description, error)
	OpenSparse(context.Context, api.SparseQuestion) (*discreet.Sparse, error)
	AskSparse(ctx context.Context, s *discreet.Sparse, sql, threshold string) (*api.SparseVerdict, error)
	Streams(dataset string) ([]api.StreamInfo, error)
	AskStream(context.Context, api.StreamQuestion) (*api.StreamAnswer, error)
	QuoteStream(context.Context, api.StreamQuestion) (*api.StreamQuote, error)
	StreamReport(ctx context.Context, dataset, stream string) (*stream.Report, error)
	Synthetic(ctx context.Context, dataset, stream, analyst string) (*api.SyntheticTable, error)
	Holdouts(dataset string) ([]api.HoldoutInfo, error)
	HoldoutStatus(ctx context.Context, dataset, holdout string) (api.HoldoutStatus, error)
	AskHoldout(context.Context, api.HoldoutQuestion) (*api.HoldoutAnswer, error)
	QuoteTraining(context.Context, api.TrainingQuestion) (*api.TrainingQuote, error)
	Train(context.Context, api.TrainingQuestion, func(learn.Progress)) (*api.Training, error)
	Models(context.Context, api.ModelsQuestion) ([]*api.KeptModel, *uint64, error)
	Model(ctx context.Context, id, analyst string, asOf map[string]time.Time) (*api.KeptModel, error)
	Board(ctx context.Context, dataset, holdout string) ([]api.BoardLine, error)
}

type databaseLibrary struct{ *discreet.DB }

func (databaseLibrary) AskSparse(ctx context.Context, s *discreet.Sparse, sql, threshold string) (*api.SparseVerdict, error) {
	return s.Ask(ctx, sql, threshold)
}
