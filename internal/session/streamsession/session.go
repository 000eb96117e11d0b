package streamsession

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/planner/cells"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// Sessions has the streams of a dataset: what the policy says of each, and the sessions that are
// open. A session is that of a stream on one version of the data, is shared by all analysts, and
// goes on after a restart where it was, because its journal is in the ledger.
type Sessions struct {
	sessionhost.Access

	mu    sync.Mutex
	plans map[string]*streamPlan
	// open has one session for each journal, never two: two would each charge for the same round
	// and draw it twice. Those on the latest data are kept, and others while somebody uses them.
	open    map[string]*openStream
	latest  map[string]string   // by the stream's name
	lessons map[string][]lesson // what streams have yet to learn, by the session
}

// New returns the sessions of a dataset.
func New(a sessionhost.Access) *Sessions { return &Sessions{Access: a} }

// streamPlan is what follows from the policy.
type streamPlan struct {
	policy *policy.Stream
	grid   *cells.Grid
	config stream.Config
	tariff *stream.Tariff
	// accounts is the stream's own, where the policy gives it a budget: a session is of one version
	// of the data, and the budget is for all of them.
	accounts []ledger.Account
	err      error
}

// streamPlan returns what follows from the policy about a stream. It is computed once.
func (c *Sessions) streamPlan(s *policy.Stream) (*streamPlan, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans == nil {
		c.plans = map[string]*streamPlan{}
	}
	p := c.plans[s.Name]
	if p == nil {
		p = c.newStreamPlan(s)
		c.plans[s.Name] = p
	}
	return p, p.err
}

func (c *Sessions) newStreamPlan(s *policy.Stream) *streamPlan {
	p := &streamPlan{policy: s}
	if p.grid, p.err = cells.NewGrid(c.Dataset, s); p.err != nil {
		return p
	}
	if p.err = c.CheckCells(p.grid.Histogram()); p.err != nil {
		return p
	}
	quota, _ := c.Dataset.StreamQuota(s.Name)
	limit := quota.Limit()
	if s.Budget != 0 {
		p.accounts = []ledger.Account{{Name: c.Dataset.Name + "/stream:" + s.Name, Filter: quota}}
	}
	p.config = stream.Config{
		Domain: p.grid.Domain, Size: s.Size, Neighbours: c.Dataset.Neighbours, Alpha: s.Alpha, Beta: s.Beta, Queries: s.Queries, Steps: 1,
		Currency: mech.Concentrated, Budget: limit.Rho, Predictor: stream.Kind(s.Predictor),
	}
	if c.Dataset.Budget.Pure() {
		p.config.Currency, p.config.Budget = mech.Pure, limit.Epsilon
	}
	p.tariff, p.err = stream.Price(p.config)
	return p
}

// id names the session on one version of the data: other cells, another accuracy or another budget
// are another session. So is one after a recovery of the ledger, which may have lost some of what
// the last one noted.
func (p *streamPlan) id(dataset, version, era string) string {
	h := sha256.New()
	c := p.config
	fmt.Fprintln(h, era, p.grid.Histogram().Hash(), c.Size, c.Neighbours, c.Alpha, c.Beta, c.Queries, c.Currency, uint64(c.Budget),
		string(c.Predictor))
	for _, a := range c.Domain.Attributes() {
		fmt.Fprintf(h, "%q %q\n", a.Name, a.Values)
	}
	return fmt.Sprintf("stream %s/%s/%s/%s", dataset, p.policy.Name, version, hex.EncodeToString(h.Sum(nil)[:16]))
}

// openStream is a session of a stream on one version of the data. Who asks it is in the flight of
// its key.
type openStream struct {
	*streamPlan
	c       *Sessions
	Key     string
	version ledger.Version
	state   string // the engine's name for that version
	session *stream.Session
	users   int // who have opened it and not closed it yet; guarded by the lock of all streams

	mu sync.Mutex
	// answered says when a question was answered in this process, and is zero while that is being
	// done.
	answered map[string]time.Time
	// balances are what was answered and spent, and when that was so. The first is that of the
	// journal.
	balances []streamBalance
}

// streamBalance is what a stream has answered and spent at a moment.
type streamBalance struct {
	at        time.Time
	different int
	spent     dp.Amount
}

// openStream opens a stream on the current data, or returns the one that is open. It looks at no
// data: it reads the journal. Who has it closes it.
func (c *Sessions) openStream(ctx context.Context, p *streamPlan, d sessionhost.Data) (*openStream, error) {
	era, err := c.Era(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := p.id(c.Dataset.Name, d.ID, era)
	if c.open == nil {
		c.open, c.latest = map[string]*openStream{}, map[string]string{}
	}
	if o := c.open[key]; o != nil {
		o.users++
		return o, nil
	}
	o := &openStream{streamPlan: p, c: c, Key: key, version: d.Version, state: d.State, answered: map[string]time.Time{}}
	if o.session, err = stream.Open(ctx, p.config, o.loader(nil), c.Releaser, o.host(nil)); err != nil {
		return nil, err
	}
	// One that an earlier version opened goes on at its own prices, and is quoted at them.
	own, tariff := *p, o.session.Tariff()
	own.tariff = &tariff
	o.streamPlan = &own
	o.book(time.Time{})
	before := c.latest[p.policy.Name]
	if old := c.open[before]; old != nil && old.users == 0 {
		delete(c.open, before)
	}
	c.open[key], c.latest[p.policy.Name] = o, key
	o.users++
	return o, nil
}

// host is the session's in the name of somebody who pays, and loader counts the people in the cells
// for them. Nobody opens the session, which charges nothing and loads nothing.
func (o *openStream) host(who *sessionhost.Payer) *sessionhost.Host {
	return &sessionhost.Host{Access: o.c.Access, ID: o.Key, Data: o.version, Accounts: o.accounts, Payer: who}
}

func (o *openStream) loader(who *sessionhost.Payer) stream.Loader {
	return func(ctx context.Context) (*histogram.Table, error) { return o.load(ctx, who) }
}

// close gives a stream back. One on data that is not the latest any more is forgotten; its journal
// is not.
func (o *openStream) close() {
	s := o.c
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.users--; o.users == 0 && s.latest[o.policy.Name] != o.Key {
		delete(s.open, o.Key)
	}
}

// load counts the people in the cells. The engine runs here and nowhere else for a stream. The
// session calls it once, by the first question that has to look at data, when a charge of the
// session is on stable storage, and again where it failed.
func (o *openStream) load(ctx context.Context, who *sessionhost.Payer) (*histogram.Table, error) {
	// Who stops waiting does not stop it. The charge is made once however often it is sent, so
	// whoever could stop the engine at a moment of their choice and ask again would measure for
	// nothing, and as exactly as they like, how long it takes to count private rows.
	ctx = context.WithoutCancel(ctx)
	if err := o.c.NoteRun(ctx); err != nil {
		return nil, err
	}
	r, err := o.c.Run(ctx, o.grid.Histogram())
	if err != nil {
		return nil, o.c.Failed(ctx, who.Analyst, who.Sequence, err, sessionhost.ErrRun)
	}
	if err := o.c.Closed(ctx, who.Analyst, true); err != nil {
		return nil, err
	}
	// The counts are used for as long as the data stays as it is, so they must not be of other
	// data, which may be gone again. That there is a new version is no secret.
	now, err := o.c.Data(ctx)
	if err != nil {
		return nil, err
	}
	if now.ID != o.version.ID || r.State != "" && r.State != o.state {
		return nil, api.ErrChanging
	}
	t, err := func() (t *histogram.Table, err error) {
		defer sessionhost.Catch(&err)
		cells, counts := r.Cells(o.grid.Place)
		return histogram.Sparse(o.grid.Domain, cells, counts)
	}()
	if err != nil {
		return nil, o.c.Failed(ctx, who.Analyst, who.Sequence, err, sessionhost.ErrRun)
	}
	return t, nil
}

// checkTime refuses where load may take longer than a question may.
func (o *openStream) checkTime(ctx context.Context) error {
	return o.c.CheckTime(ctx, o.grid.Histogram())
}

// ask asks the session one question. The caller is in its flight, so questions are answered in the
// order in which they came.
//
// An answer that leaves on a tick must not be seen before. Whoever asks waits for those who came
// before, so what they get is made of answers that leave no later than theirs. Who asks for a price
// only waits for nobody, and is told nothing of what was answered since the last tick; see quote.
func (o *openStream) ask(ctx context.Context, who *sessionhost.Payer, q *linear.Query) (*stream.Answer, error) {
	paid := o.session.WithHost(o.host(who), o.loader(who))
	if err := paid.Renew(ctx); err != nil {
		return nil, err
	}
	way, _, err := paid.Quote(q)
	answered := func(bool) {}
	if err == nil && way != stream.Cached {
		if err := o.checkTime(ctx); err != nil {
			return nil, err
		}
		answered = o.answering(q.Key())
	}
	a, err := o.compute(ctx, paid, who, way, q)
	releaseclock.BeginPrivateWork(ctx) // it compares with counts that are in memory, also after its last entry
	answered(err == nil && a.Way != stream.Unchecked)
	spent := errors.Is(err, stream.ErrSpent) || o.refused(err)
	if who.Charged && (spent || errors.As(err, new(*ledger.BudgetError))) {
		return nil, api.ErrStreamPart
	}
	if spent {
		return nil, o.spentRefusal()
	}
	return a, err
}

// compute asks the session. What it remembers is told also under a lockout.
func (o *openStream) compute(
	ctx context.Context, paid *stream.Session, who *sessionhost.Payer, way stream.Way, q *linear.Query,
) (a *stream.Answer, err error) {
	if way != stream.Cached {
		if err := o.c.Closed(ctx, who.Analyst, who.Charged); err != nil {
			return nil, err
		}
		who.Unanswered = true
	}
	err = func() (err error) {
		defer sessionhost.Catch(&err)
		a, err = paid.Ask(ctx, q)
		return err
	}()
	if errors.Is(err, sessionhost.ErrPanic) {
		err = o.c.Failed(ctx, who.Analyst, who.Sequence, err, sessionhost.ErrRun)
	}
	return a, err
}

// refused reports whether it was the stream's own account that did not admit a charge.
func (p *streamPlan) refused(err error) bool {
	var over *ledger.BudgetError
	return errors.As(err, &over) && slices.ContainsFunc(p.accounts, func(a ledger.Account) bool { return a.Name == over.Account })
}

// affords reports whether the stream's own account admits a cost.
func (p *streamPlan) affords(ctx context.Context, j sessionhost.Journal, cost dp.Cost) (bool, error) {
	if len(p.accounts) == 0 || cost == (dp.Cost{}) {
		return true, nil
	}
	balances, err := j.Balances(ctx, p.accounts)
	return !slices.ContainsFunc(balances, func(b ledger.Balance) bool { return !b.Spent.Add(cost).Fits(b.Limit) }), err
}

// spentRefusal says that the stream's own budget does not cover a question.
func (p *streamPlan) spentRefusal() error {
	return syntax.Refuse(syntax.Exhausted, -1, "ask again what was asked before, or ask this with a price of its own: SET dp.epsilon",
		"the stream %s cannot answer this with what is left of its budget", p.policy.Name)
}

// answering notes that a question is being answered, and returns what says that it is, or that it
// was not.
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
	for len(o.balances) > 1 && now.Sub(o.balances[1].at) > answercache.Memorable {
		o.balances = o.balances[1:]
	}
	r := o.session.Report()
	o.balances = append(o.balances, streamBalance{now, r.Different, o.amount(r.Spent)})
}

// maxAnswered bounds how many answers are remembered for quotes as of a moment.
const maxAnswered = 1 << 20

// quote says how a question would be answered, and the most that it could cost. Where it is as of a
// moment, it says nothing that was not so then, and waits for nobody: the state of the session
// changes when an answer is there, and how long that takes can depend on the data. So all that is
// said then is that a question was answered, in this process and before that moment, or else the
// most that any one question could have cost then.
func (o *openStream) quote(q *linear.Query, asOf time.Time) (stream.Way, dp.Cost, error) {
	if asOf.IsZero() {
		return o.session.Quote(q)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if at := o.answered[q.Key()]; !at.IsZero() && !at.After(asOf) {
		return stream.Cached, dp.Cost{}, nil
	}
	then := o.balances[0]
	for _, b := range o.balances {
		if !b.at.After(asOf) {
			then = b
		}
	}
	most := dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Unbounded}
	return stream.Predicted, o.atMost(most, o.allowance(then, 1)), nil
}

// allowance is what the stream may spend on so many new questions by its own rule.
func (p *streamPlan) allowance(b streamBalance, n int) dp.Amount {
	return p.tariff.Allowance(b.different + n).Sub(b.spent)
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
