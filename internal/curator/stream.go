package curator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/cells"
	"github.com/discreet-dp/discreet/internal/stream/histogram"
	"github.com/discreet-dp/discreet/internal/stream/linear"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/stream"
)

// streams are the streams of a dataset: what the policy says of each, and the sessions that are open. A session is that of a stream on one version of the data, is shared by
// all analysts, and goes on after a restart where it was, because its journal is in the ledger.
type streams struct {
	mu    sync.Mutex
	plans map[string]*streamPlan
	// open has one session for each journal, never two: two would each charge for the same round and draw it twice. Those on the latest data are kept, and others while
	// somebody uses them.
	open    map[string]*openStream
	latest  map[string]string   // by the stream's name
	lessons map[string][]lesson // what streams have yet to learn, by the session
}

// streamPlan is what follows from the policy.
type streamPlan struct {
	policy *policy.Stream
	grid   *cells.Grid
	config stream.Config
	tariff *stream.Tariff
	err    error
}

// streamPlan returns what follows from the policy about a stream. It is computed once.
func (c *Curator) streamPlan(s *policy.Stream) (*streamPlan, error) {
	c.streams.mu.Lock()
	defer c.streams.mu.Unlock()
	if c.streams.plans == nil {
		c.streams.plans = map[string]*streamPlan{}
	}
	p := c.streams.plans[s.Name]
	if p == nil {
		p = c.newStreamPlan(s)
		c.streams.plans[s.Name] = p
	}
	return p, p.err
}

func (c *Curator) newStreamPlan(s *policy.Stream) *streamPlan {
	p := &streamPlan{policy: s}
	if p.grid, p.err = cells.NewGrid(c.dataset, s); p.err != nil {
		return p
	}
	if p.err = agreed(c.second.cells(c.dataset, p.grid.Histogram())); p.err != nil {
		return p
	}
	quota, _ := c.dataset.StreamQuota(s.Name)
	limit := quota.Limit()
	p.config = stream.Config{
		Domain: p.grid.Domain, Size: s.Size, Neighbours: c.dataset.Neighbours, Alpha: s.Alpha, Beta: s.Beta, Queries: s.Queries, Steps: 1,
		Currency: mech.Concentrated, Budget: limit.Rho, Predictor: stream.Kind(s.Predictor),
	}
	if c.dataset.Budget.Pure() {
		p.config.Currency, p.config.Budget = mech.Pure, limit.Epsilon
	}
	p.tariff, p.err = stream.Price(p.config)
	return p
}

// id names the session on one version of the data: other cells, another accuracy or another budget are another session. So is one after a recovery of the
// ledger, which may have lost some of what the last one noted.
func (p *streamPlan) id(dataset, version, era string) string {
	h := sha256.New()
	c := p.config
	fmt.Fprintln(h, era, p.grid.Histogram().Hash(), c.Size, c.Neighbours, c.Alpha, c.Beta, c.Queries, c.Currency, uint64(c.Budget), string(c.Predictor))
	for _, a := range c.Domain.Attributes() {
		fmt.Fprintf(h, "%q %q\n", a.Name, a.Values)
	}
	return fmt.Sprintf("stream %s/%s/%s/%s", dataset, p.policy.Name, version, hex.EncodeToString(h.Sum(nil)[:16]))
}

// openStream is a session of a stream on one version of the data. Who asks it is in the flight of its key.
type openStream struct {
	*streamPlan
	c       *Curator
	key     string
	version ledger.Version
	session *stream.Session
	users   int // who have opened it and not closed it yet; guarded by the lock of all streams

	mu sync.Mutex
	// answered says when a question was answered in this process, and is zero while that is being done.
	answered map[string]time.Time
	// books are what was answered and spent, and when that was so. The first is that of the journal.
	books []booking
}

// booking is the books of a stream at a moment.
type booking struct {
	at        time.Time
	different int
	spent     dp.Amount
}

// openStream opens a stream on the current data, or returns the one that is open. It looks at no data: it reads the journal. Who has it closes it.
func (c *Curator) openStream(ctx context.Context, p *streamPlan, d data) (*openStream, error) {
	era, err := c.ledger.Era(ctx)
	if err != nil {
		return nil, err
	}
	c.streams.mu.Lock()
	defer c.streams.mu.Unlock()
	key := p.id(c.dataset.Name, d.ID, era)
	if c.streams.open == nil {
		c.streams.open, c.streams.latest = map[string]*openStream{}, map[string]string{}
	}
	if o := c.streams.open[key]; o != nil {
		o.users++
		return o, nil
	}
	o := &openStream{streamPlan: p, c: c, key: key, version: d.Version, answered: map[string]time.Time{}}
	if o.session, err = stream.Open(ctx, p.config, o.load, c.releaser, &host{c: c, id: key, version: d.Version}); err != nil {
		return nil, err
	}
	o.book(time.Time{})
	before := c.streams.latest[p.policy.Name]
	if old := c.streams.open[before]; old != nil && old.users == 0 {
		delete(c.streams.open, before)
	}
	c.streams.open[key], c.streams.latest[p.policy.Name] = o, key
	o.users++
	return o, nil
}

// close gives a stream back. One on data that is not the latest any more is forgotten; its journal is not.
func (o *openStream) close() {
	s := &o.c.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.users--; o.users == 0 && s.latest[o.policy.Name] != o.key {
		delete(s.open, o.key)
	}
}

// load counts the people in the cells. The engine runs here and nowhere else for a stream. The session calls it once, by the first question that has to look at data, when a
// charge of the session is on stable storage, and again where it failed.
func (o *openStream) load(ctx context.Context) (*histogram.Table, error) {
	// Who stops waiting does not stop it. The charge is made once however often it is sent, so whoever could stop the engine at a moment of their choice and ask again
	// would measure for nothing, and as exactly as they like, how long it takes to count private rows.
	ctx = context.WithoutCancel(ctx)
	who, ok := ctx.Value(payerKey{}).(*payer)
	if !ok {
		return nil, errNoPayer
	}
	if err := o.c.begin(ctx); err != nil {
		return nil, err
	}
	r, err := o.c.run(ctx, o.grid.Histogram())
	if err != nil {
		return nil, o.c.failed(ctx, who.analyst, who.sequence, err, ErrRun)
	}
	if err := o.c.closed(ctx, who.analyst, true); err != nil {
		return nil, err
	}
	// The counts are used for as long as the data stays as it is, so they must not be of other data. That there is a new version is no secret.
	now, err := o.c.data(ctx)
	if err != nil {
		return nil, err
	}
	if now.ID != o.version.ID {
		return nil, errStreamData
	}
	t, err := o.place(r)
	if err != nil {
		return nil, o.c.failed(ctx, who.analyst, who.sequence, err, ErrRun)
	}
	return t, nil
}

// place puts counts into their cells.
func (o *openStream) place(r *engine.Result) (t *histogram.Table, err error) {
	defer caught(&err)
	cells, counts := r.Cells(o.grid.Place)
	return histogram.Sparse(o.grid.Domain, cells, counts)
}

var errStreamData = errors.New("the data has changed while it was read; ask again")

// ask asks the session one question. The caller is in its flight, so questions are answered in the order in which they came.
//
// An answer that leaves on a tick must not be seen before. Whoever asks waits for those who came before, so what they get is made of answers that leave no later than
// theirs. Who asks for a price only waits for nobody, and is told nothing of what was answered since the last tick; see quote.
func (o *openStream) ask(ctx context.Context, who *payer, q *linear.Query) (*stream.Answer, error) {
	ctx = paidBy(ctx, who)
	if err := o.session.Renew(ctx); err != nil {
		return nil, err
	}
	way, _, err := o.session.Quote(q)
	answered := func(bool) {}
	if err == nil && way != stream.Cached {
		answered = o.answering(q.Key())
	}
	a, err := o.compute(ctx, who, way, q)
	answered(err == nil && a.Way != stream.Unchecked)
	spent := errors.Is(err, stream.ErrSpent)
	if who.charged && (spent || errors.As(err, new(*ledger.BudgetError))) {
		return nil, api.ErrStreamPart
	}
	if spent {
		return nil, o.spentRefusal()
	}
	return a, err
}

// compute asks the session. What it remembers is told also behind a closed door.
func (o *openStream) compute(ctx context.Context, who *payer, way stream.Way, q *linear.Query) (a *stream.Answer, err error) {
	if way != stream.Cached {
		if err := o.c.closed(ctx, who.analyst, who.charged); err != nil {
			return nil, err
		}
	}
	err = func() (err error) {
		defer caught(&err)
		a, err = o.session.Ask(ctx, q)
		return err
	}()
	if errors.Is(err, errPanic) {
		err = o.c.failed(ctx, who.analyst, who.sequence, err, ErrRun)
	}
	return a, err
}

// spentRefusal says that the stream's own budget does not admit a question.
func (p *streamPlan) spentRefusal() error {
	return api.Refuse("ask what was asked before, or ask it with a price of its own: SET dp.epsilon", "the stream %s cannot answer this with what is left of its budget", p.policy.Name)
}

// answering notes that a question is being answered, and returns what says that it is, or that it was not.
func (o *openStream) answering(key string) (done func(answered bool)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.answered) > maxAnswered {
		o.answered = map[string]time.Time{} // those that are forgotten are quoted at the most they can cost
	}
	o.answered[key] = time.Time{}
	return func(answered bool) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if delete(o.answered, key); answered {
			o.answered[key] = time.Now()
		}
		o.book(time.Now())
	}
}

// book notes what was answered and spent. Of what is older than any tick the last is kept.
func (o *openStream) book(now time.Time) {
	for len(o.books) > 1 && now.Sub(o.books[1].at) > memorable {
		o.books = o.books[1:]
	}
	r := o.session.Report()
	o.books = append(o.books, booking{now, r.Different, o.amount(r.Spent)})
}

// maxAnswered bounds how many answers are remembered for quotes as of a moment.
const maxAnswered = 1 << 20

// quote says how a question would be answered, and the most that it could cost. Where it is as of a moment, it says nothing that was not so then, and waits for nobody: the
// state of the session changes when an answer is there, and how long that takes can depend on the data. So all that is said then is that a question was answered, in this
// process and before that moment, or else the most that any one question could have cost then.
func (o *openStream) quote(q *linear.Query, asOf time.Time) (stream.Way, dp.Cost, error) {
	if asOf.IsZero() {
		return o.session.Quote(q)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if at := o.answered[q.Key()]; !at.IsZero() && !at.After(asOf) {
		return stream.Cached, dp.Cost{}, nil
	}
	then := o.books[0]
	for _, b := range o.books {
		if !b.at.After(asOf) {
			then = b
		}
	}
	most := dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Unbounded}
	return stream.Predicted, o.atMost(most, o.allowance(then, 1)), nil
}

// allowance is what a stream may spend on so many new questions by its own rule: never more than its limit, nor than 1.2 times what the exact-match cache would have, all questions
// together.
func (p *streamPlan) allowance(b booking, n int) dp.Amount {
	most := new(big.Int).Mul(big.NewInt(int64(b.different+n)*6), new(big.Int).SetUint64(uint64(p.amount(p.tariff.Cache))))
	most.Quo(most, big.NewInt(5))
	limit := p.tariff.Limit
	if most.IsUint64() {
		limit = min(limit, dp.Amount(most.Uint64()))
	}
	return limit.Sub(b.spent)
}

// atMost lowers what a cost takes from the budget.
func (p *streamPlan) atMost(c dp.Cost, most dp.Amount) dp.Cost {
	if p.config.Currency == mech.Pure {
		c.Epsilon = min(c.Epsilon, most)
	} else {
		c.Rho = min(c.Rho, most)
	}
	return c
}

// dearest is a round or a plain answer, whichever costs more.
func (p *streamPlan) dearest() dp.Cost {
	if p.amount(p.tariff.Plain) > p.amount(p.tariff.Round) {
		return p.tariff.Plain
	}
	return p.tariff.Round
}

// amount is what a cost takes from the budget.
func (p *streamPlan) amount(c dp.Cost) dp.Amount {
	if p.config.Currency == mech.Pure {
		return c.Epsilon
	}
	return c.Rho
}
