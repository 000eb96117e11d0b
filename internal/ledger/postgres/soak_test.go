package postgres

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/ledger"
)

var soak = flag.Int("soak", 1, "how often each kind of failure is tried")

const (
	raceServers  = 3
	raceClients  = 300
	raceRequests = raceClients / 2 // each of two clients
	// raceTime is in what time clients come, and things fail.
	raceTime = 200 * time.Millisecond
)

// field is where a race is run: servers in processes of their own, and a database.
type field struct {
	t        *testing.T
	servers  []*process
	proxies  []*proxy
	database *testpg.Server
	standby  *testpg.Server
	told     *told
	broken   int // how often something was killed or cut while clients were asking
	before   int // how many clients were answered when that was first done
}

func (f *field) breaks() {
	f.told.mu.Lock()
	defer f.told.mu.Unlock()
	if f.broken++; f.broken == 1 {
		f.before = f.told.answered
	}
}

// failures are what goes wrong in a race, while clients come.
var failures = []struct {
	name    string
	arrange func(t *testing.T) *field
	happen  func(f *field)
}{
	{"nothing", arrangeShared, func(*field) {}},
	{"servers killed -9", arrangeShared, (*field).killServers},
	{"connections cut", arrangeProxies, (*field).cutConnections},
	{"PostgreSQL killed -9", arrangeDatabase, (*field).killDatabase},
	{"failover to a standby", arrangeStandby, (*field).failOver},
}

func arrangeShared(t *testing.T) *field { return newField(t, address(t), nil) }

func arrangeProxies(t *testing.T) *field {
	at := address(t)
	open(t, at, Options{}).Close()
	f := &field{t: t}
	for range raceServers {
		p, via := newProxy(t, at)
		f.proxies = append(f.proxies, p)
		f.servers = append(f.servers, newProcess(t, via))
	}
	return f
}

func arrangeDatabase(t *testing.T) *field {
	pg := testpg.Start(t)
	return newField(t, pg.URL(), pg)
}

// arrangeStandby has a database that tells of no commit which its standby has not written.
func arrangeStandby(t *testing.T) *field {
	first := testpg.Start(t)
	second := first.Standby(t)
	admin := open(t, within(t, first.URL()), Options{})
	do(t, admin, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	do(t, admin, "SELECT pg_reload_conf()")
	until(t, "a standby that is waited for", func() bool {
		var n int
		err := admin.conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").Scan(&n)
		return err == nil && n == 1
	})
	mustClose(t, admin)
	f := newField(t, both(first, second), first)
	f.standby = second
	return f
}

// both is the address of whichever of two servers can be written.
func both(first, second *testpg.Server) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres",
		RawQuery: url.Values{"host": {first.Host() + "," + second.Host()}}.Encode()}
	return u.String()
}

func newField(t *testing.T, at string, database *testpg.Server) *field {
	open(t, at, Options{}).Close()
	f := &field{t: t, database: database}
	for range raceServers {
		f.servers = append(f.servers, newProcess(t, at))
	}
	return f
}

// wait waits for some part of the time in which clients come.
func wait(part time.Duration) { time.Sleep(raceTime/(2*part) + rand.N(raceTime/part)) }

func (f *field) killServers() {
	for range 4 {
		wait(8)
		s := f.servers[rand.IntN(len(f.servers))]
		f.breaks()
		s.kill()
		s.start(f.t)
	}
}

// cutConnections cuts at random moments, and when the database has just said that it committed.
func (f *field) cutConnections() {
	for n := range 12 {
		wait(16)
		p := f.proxies[n%len(f.proxies)]
		if n%2 == 0 {
			f.breaks()
			p.cut(0.5)
		} else {
			p.mu.Lock()
			p.swallow = true
			p.mu.Unlock()
		}
	}
}

func (f *field) killDatabase() {
	wait(2)
	f.breaks()
	f.database.Kill(f.t)
	f.database.Restart(f.t)
}

func (f *field) failOver() {
	wait(2)
	f.breaks()
	f.database.Kill(f.t)
	f.standby.Promote(f.t)
}

// told is what clients were told.
type told struct {
	mu       sync.Mutex
	receipts map[string]ledger.Position
	answers  map[string]string
	answered int // clients
	refused  int
	retried  int // because a server said so, or was gone
	twice    int // requests with two answers
}

// ask asks one server after the other until one of them decides.
func (o *told) ask(t *testing.T, f *field, first int, request string) {
	for begun, n := time.Now(), 0; time.Since(begun) < time.Minute; n++ {
		line, err := tell(f.servers[(first+n)%len(f.servers)].socket, request)
		kind, rest, _ := strings.Cut(line, " ")
		o.mu.Lock()
		switch {
		case err == nil && kind == "refused":
			o.refused++
		case err == nil && kind == "answer":
			o.hear(request, rest)
		case err == nil && kind != "again":
			t.Errorf("%s: %s", request, line)
		default:
			o.retried++
		}
		o.mu.Unlock()
		if err == nil && kind != "again" {
			return
		}
		time.Sleep(time.Duration(1+rand.IntN(20)) * time.Millisecond)
	}
	t.Errorf("%s was never decided", request)
}

func (o *told) hear(request, text string) {
	var at ledger.Position
	var answer string
	if n, _ := fmt.Sscan(text, &at.Sequence, &at.Hash, &answer); n != 3 {
		return // cut off in the middle: nothing was told
	}
	if before, ok := o.answers[request]; ok && (before != answer || o.receipts[request] != at) {
		o.twice++
	}
	o.receipts[request], o.answers[request] = at, answer
	o.answered++
}

// tell says one line to a server and returns its answer.
func tell(socket, line string) (string, error) {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := fmt.Fprintln(c, line); err != nil {
		return "", err
	}
	said, err := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSuffix(said, "\n"), err
}

// score is what came of races of one kind.
type score struct {
	races, broken, before, admitted, answered, refused, retried int
	unpaid, overspent, lost, twice                              int
	took                                                        time.Duration
}

// race lets all clients ask while things fail, and compares what they were told with the ledger.
func (s *score) race(t *testing.T, f *field, happen func(*field)) {
	begun := time.Now()
	o := &told{receipts: map[string]ledger.Position{}, answers: map[string]string{}}
	f.told = o
	var all sync.WaitGroup
	for i := range raceClients {
		all.Go(func() {
			time.Sleep(rand.N(raceTime))
			o.ask(t, f, i, fmt.Sprint("request-", i%raceRequests))
		})
	}
	happen(f)
	all.Wait()
	for _, p := range f.proxies {
		f.broken += p.swallowed
	}
	s.took += time.Since(begun)
	s.races++
	s.before += f.before
	s.answered, s.refused, s.retried = s.answered+o.answered, s.refused+o.refused, s.retried+o.retried
	s.broken, s.twice = s.broken+f.broken, s.twice+o.twice
	at := f.servers[0].at
	for _, p := range f.servers {
		p.kill()
	}
	s.audit(t, o, at)
}

// audit counts what was told and not paid for, what was spent beyond the limit, and what was told
// and is not in the ledger any more.
func (s *score) audit(t *testing.T, o *told, at string) {
	report := verify(t, at)
	r, err := Read(at)
	noError(t, err)
	defer r.Close()
	charges, hashes, answers := map[string]uint64{}, map[uint64]string{}, map[uint64]string{}
	for line, err := range r.Lines() {
		noError(t, err)
		switch line.Record.Kind {
		case ledger.KindCharge:
			charges[line.Record.Request], hashes[line.Record.Sequence] = line.Record.Sequence, line.Hash
		case ledger.KindAnswer:
			answers[line.Record.Charge] = string(line.Answer)
		}
	}
	for request, answer := range o.answers {
		at, charged := charges[request]
		switch {
		case !charged:
			s.unpaid++
		case o.receipts[request] != ledger.Position{Sequence: at, Hash: hashes[at]}, answers[at] != answer:
			s.lost++
		}
	}
	s.admitted += len(charges)
	s.overspent += max(len(charges)-raceLimit, 0)
	if spent := int(report.Balances[0].Spent.Rho / unit.Rho); spent != len(charges) || len(charges) != raceLimit ||
		len(answers) != raceLimit || o.answered != 2*raceLimit || o.refused != raceClients-2*raceLimit {
		t.Errorf("of %d questions %d were admitted, for %d, and %d answered; %d clients were answered and %d refused", raceLimit,
			len(charges), spent, len(answers), o.answered, o.refused)
	}
}

// Three servers, each a process, 300 clients and 100 questions to be had, every request from two
// clients. Whatever fails meanwhile, exactly 100 are admitted, a request has one answer, and what
// was told is in the ledger. With -soak 50 each kind of failure is tried 50 times.
func TestPromise6Race(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts databases and servers")
	}
	scores := make([]score, len(failures))
	t.Run("all", func(t *testing.T) {
		for i, k := range failures {
			t.Run(k.name, func(t *testing.T) {
				t.Parallel()
				for n := range *soak {
					t.Run(fmt.Sprint(n), func(t *testing.T) { scores[i].race(t, k.arrange(t), k.happen) })
				}
			})
		}
	})
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 2, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nwhat fails\traces\tfailures\tanswered before\tadmitted\tanswered\trefused\tasked again\t"+
		"unpaid\toverspent\tlost\ttwo answers\ts a race")
	for i, s := range scores {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f\n", failures[i].name, s.races, s.broken, s.before,
			s.admitted, s.answered, s.refused, s.retried, s.unpaid, s.overspent, s.lost, s.twice,
			s.took.Seconds()/float64(max(s.races, 1)))
		if s.unpaid+s.overspent+s.lost+s.twice > 0 {
			t.Errorf("%s: %+v", failures[i].name, s)
		}
		if i > 0 && s.broken < s.races {
			t.Errorf("%s: only %d failures in %d races", failures[i].name, s.broken, s.races)
		}
	}
	w.Flush()
	t.Log(text.String())
}
