package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/ledger"
)

// step is one call of a ledger. The few different values make calls meet.
type step struct {
	Do       string
	Request  string
	Query    int
	Rho      int
	Accounts []int // limits in units by account; 0 leaves the account out
	Sequence uint64
	Key      string
	Answer   string
}

var steps = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
	return step{
		Do: rapid.SampledFrom([]string{"charge", "charge", "charge", "keep", "keep", "recall", "answer", "note", "note", "notes",
			"renew", "reopen"}).Draw(t, "do"),
		Request:  rapid.StringMatching(`[a-h]`).Draw(t, "request"),
		Query:    rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "query"),
		Rho:      rapid.SampledFrom([]int{1, 1, 2, 5}).Draw(t, "rho"),
		Accounts: rapid.SliceOfN(rapid.SampledFrom([]int{0, 6, 6, 9}), 2, 2).Draw(t, "accounts"),
		Sequence: rapid.Uint64Range(0, 12).Draw(t, "sequence"),
		Key:      rapid.StringMatching(`[k-m]`).Draw(t, "key"),
		Answer:   rapid.StringMatching(`[0-2]`).Draw(t, "answer"),
	}
}), 1, 40)

func (s step) charge() ledger.Charge {
	c := ask(s.Request)
	c.Query = fmt.Sprintf("%064x", s.Query)
	c.Cost = dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Amount(s.Rho), Delta: 0}
	for i, limit := range s.Accounts {
		if limit > 0 {
			c.Accounts = append(c.Accounts,
				ledger.Account{Name: fmt.Sprint("account ", i), Filter: account.ZCDPFilter(dp.Amount(limit), 0)})
		}
	}
	return c
}

// model is a ledger that is as simple as can be: it forgets nothing because it
// is never closed, and looks through everything each time.
type model struct{ records []modelRecord }

type modelRecord struct {
	charge *ledger.Charge // or an answer:
	paid   uint64
	key    string
	answer string
	// or a note, in answer:
	session string
	// or a renewal:
	renewal bool
}

// window is that of the record before which there are so many.
func (m *model) window(records int) (n uint64) {
	for _, r := range m.records[:records] {
		if r.renewal {
			n++
		}
	}
	return n + 1
}

// lapsed says whether the window of a charge has ended.
func (m *model) lapsed(charge uint64) bool { return m.window(int(charge)) != m.window(len(m.records)) }

func (m *model) notes(session string) []string {
	all := []string{}
	for _, r := range m.records {
		if r.session == session {
			all = append(all, r.answer)
		}
	}
	return all
}

func (m *model) spent(name string) (sum dp.Amount) {
	for _, r := range m.records {
		if r.charge != nil {
			for _, a := range r.charge.Accounts {
				if a.Name == name {
					sum += r.charge.Cost.Rho
				}
			}
		}
	}
	return sum
}

func (m *model) request(request string) (uint64, *ledger.Charge) {
	for i, r := range m.records {
		if r.charge != nil && r.charge.Request == request {
			return uint64(i + 1), r.charge
		}
	}
	return 0, nil
}

// charge returns the sequence, and what should come of it.
func (m *model) charge(c ledger.Charge) (uint64, string) {
	if len(c.Accounts) == 0 {
		return 0, "invalid"
	}
	if n, old := m.request(c.Request); old != nil {
		if old.Query != c.Query || old.Cost != c.Cost {
			return 0, "request"
		}
		if _, _, answered := m.find(func(r modelRecord) bool { return r.paid == n }); !answered && m.lapsed(n) {
			return 0, "lapsed"
		}
		return n, "again"
	}
	for _, a := range c.Accounts {
		if m.spent(a.Name)+c.Cost.Rho > a.Filter.Limit().Rho {
			return 0, "budget"
		}
	}
	m.records = append(m.records, modelRecord{charge: &c})
	return uint64(len(m.records)), "charged"
}

func (m *model) keep(s step) string {
	if s.Sequence == 0 || s.Sequence > uint64(len(m.records)) || m.records[s.Sequence-1].charge == nil {
		return "unpaid"
	}
	for _, r := range m.records {
		if r.paid == s.Sequence {
			if r.key == s.Key && r.answer == s.Answer {
				return "kept"
			}
			return "other"
		}
	}
	if m.lapsed(s.Sequence) {
		return "lapsed"
	}
	m.records = append(m.records, modelRecord{paid: s.Sequence, key: s.Key, answer: s.Answer})
	return "kept"
}

// find returns the first answer that fits.
func (m *model) find(fits func(modelRecord) bool) (string, uint64, bool) {
	for _, r := range m.records {
		if r.paid != 0 && fits(r) {
			return r.answer, r.paid, true
		}
	}
	return "", 0, false
}

// word names what a ledger did.
func word(err error, without string) string {
	var invalid *ledger.InvalidError
	var request *ledger.RequestError
	var budget *ledger.BudgetError
	switch {
	case err == nil:
		return without
	case errors.As(err, &invalid):
		return "invalid"
	case errors.As(err, &request):
		return "request"
	case errors.As(err, &budget):
		return "budget"
	case errors.As(err, new(*ledger.LapsedError)):
		return "lapsed"
	case errors.Is(err, ledger.ErrUnpaid):
		return "unpaid"
	case errors.Is(err, ledger.ErrKept):
		return "other"
	}
	return err.Error()
}

// compare runs the steps on a ledger and on the model and returns the first difference.
func compare(path string, plan []step, wrap func(ledger.Ledger) ledger.Ledger) (err error) {
	file, err := Open(path)
	if err != nil {
		return err
	}
	defer func() { file.Close() }()
	l, m := wrap(file), &model{}
	for i, s := range plan {
		var got, want string
		switch s.Do {
		case "charge":
			charge := s.charge()
			charge.Window = m.window(len(m.records))
			r, err := l.Charge(ctx, charge)
			did := "charged"
			if r.Again {
				did = "again"
			}
			sequence, expected := m.charge(s.charge())
			got, want = fmt.Sprint(r.Sequence, word(err, did)), fmt.Sprint(sequence, expected)
		case "keep":
			got, want = word(l.Keep(ctx, s.Sequence, s.Key, []byte(s.Answer)), "kept"), m.keep(s)
		case "recall":
			answer, paid, found, err := l.Recall(ctx, s.Key)
			a, p, f := m.find(func(r modelRecord) bool { return r.key == s.Key })
			got, want = fmt.Sprint(string(answer), paid, found, err), fmt.Sprint(a, p, f, error(nil))
		case "answer":
			answer, found, err := l.Answer(ctx, s.Request)
			n, _ := m.request(s.Request)
			a, _, f := m.find(func(r modelRecord) bool { return n != 0 && r.paid == n })
			got, want = fmt.Sprint(string(answer), found, err), fmt.Sprint(a, f, error(nil))
		case "note":
			m.records = append(m.records, modelRecord{session: s.Key, answer: s.Answer})
			got, want = word(l.Note(ctx, s.Key, []byte(s.Answer)), "noted"), "noted"
		case "notes":
			notes, err := l.Notes(ctx, s.Key)
			got, want = fmt.Sprintf("%s %v", notes, err), fmt.Sprintf("%s %v", m.notes(s.Key), error(nil))
		case "renew":
			_, err := l.Enter(ctx, ledger.Renewal{Dataset: "hospital", From: m.window(len(m.records)), Reason: "another"})
			m.records = append(m.records, modelRecord{renewal: true})
			got, want = word(err, "renewed"), "renewed"
		case "reopen":
			if err := file.Close(); err != nil {
				return err
			}
			if file, err = Open(path); err != nil {
				return err
			}
			l = wrap(file)
		}
		if got != want {
			return fmt.Errorf("step %d, %+v: got %q; want %q", i, s, got, want)
		}
		if sequence, _, err := l.Head(ctx); err != nil || sequence != uint64(len(m.records)) {
			return fmt.Errorf("step %d, %+v: %d records, %v; want %d", i, s, sequence, err, len(m.records))
		}
		accounts := []ledger.Account{{Name: "account 0"}, {Name: "account 1"}}
		balances, err := l.Balances(ctx, accounts)
		if err != nil {
			return err
		}
		for j, b := range balances {
			if want := m.spent(accounts[j].Name); b.Spent.Rho != want {
				return fmt.Errorf("step %d, %+v: %s spent %v; want %v", i, s, b.Account, b.Spent.Rho, want)
			}
		}
	}
	return nil
}

func honest(l ledger.Ledger) ledger.Ledger { return l }

func TestLikeTheModel(t *testing.T) {
	t.Parallel()
	dir, n := inMemory(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := compare(path, steps.Draw(rt, "steps"), honest); err != nil {
			rt.Fatal(err)
		}
		if _, err := Verify(path); err != nil {
			rt.Fatal(err)
		}
	})
}

// Ledgers with a bug each. The comparison above must see all of them.
type (
	chargesFirstAccount struct{ ledger.Ledger }
	chargesAgain        struct {
		ledger.Ledger
		n *int
	}
	takesAnyRequest struct{ ledger.Ledger }
	keepsNothing    struct{ ledger.Ledger }
	keepsLast       struct {
		ledger.Ledger
		last map[string]string
	}
	notesNothing     struct{ ledger.Ledger }
	notesTogether    struct{ ledger.Ledger }
	notesLastFirst   struct{ ledger.Ledger }
	notesOnlyUnequal struct {
		ledger.Ledger
		last map[string]string
	}
)

func (l notesNothing) Notes(context.Context, string) ([][]byte, error) { return nil, nil }

func (l notesTogether) Note(ctx context.Context, _ string, entry []byte) error {
	return l.Ledger.Note(ctx, "k", entry)
}

func (l notesLastFirst) Notes(ctx context.Context, session string) ([][]byte, error) {
	all, err := l.Ledger.Notes(ctx, session)
	slices.Reverse(all)
	return all, err
}

func (l notesOnlyUnequal) Note(ctx context.Context, session string, entry []byte) error {
	if l.last[session] == string(entry) {
		return nil
	}
	l.last[session] = string(entry)
	return l.Ledger.Note(ctx, session, entry)
}

func (l chargesFirstAccount) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	if len(c.Accounts) > 1 {
		c.Accounts = c.Accounts[:1]
	}
	return l.Ledger.Charge(ctx, c)
}

func (l chargesAgain) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	*l.n++
	c.Request += fmt.Sprint(*l.n)
	return l.Ledger.Charge(ctx, c)
}

func (l takesAnyRequest) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	r, err := l.Ledger.Charge(ctx, c)
	if word(err, "") == "request" {
		return r, nil
	}
	return r, err
}

func (l keepsNothing) Keep(context.Context, uint64, string, []byte) error { return nil }

func (l keepsLast) Keep(ctx context.Context, n uint64, key string, answer []byte) error {
	err := l.Ledger.Keep(ctx, n, key, answer)
	if err == nil {
		l.last[key] = string(answer)
	}
	return err
}

func (l keepsLast) Recall(ctx context.Context, key string) ([]byte, uint64, bool, error) {
	_, n, found, err := l.Ledger.Recall(ctx, key)
	return []byte(l.last[key]), n, found, err
}

func TestModelSeesBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	dir, err := os.MkdirTemp(memory(), "ledger-test-*")
	noError(t, err)
	defer os.RemoveAll(dir)
	made := map[int][]step{}
	for name, wrap := range map[string]func(ledger.Ledger) ledger.Ledger{
		"charges only the first account": func(l ledger.Ledger) ledger.Ledger { return chargesFirstAccount{l} },
		"charges a request again":        func(l ledger.Ledger) ledger.Ledger { return chargesAgain{l, new(int)} },
		"takes any request":              func(l ledger.Ledger) ledger.Ledger { return takesAnyRequest{l} },
		"keeps nothing":                  func(l ledger.Ledger) ledger.Ledger { return keepsNothing{l} },
		"keeps the last answer":          func(l ledger.Ledger) ledger.Ledger { return keepsLast{l, map[string]string{}} },
		"forgets notes":                  func(l ledger.Ledger) ledger.Ledger { return notesNothing{l} },
		"mixes the notes of sessions":    func(l ledger.Ledger) ledger.Ledger { return notesTogether{l} },
		"gives the last note first":      func(l ledger.Ledger) ledger.Ledger { return notesLastFirst{l} },
		"notes the same only once":       func(l ledger.Ledger) ledger.Ledger { return notesOnlyUnequal{l, map[string]string{}} },
	} {
		seen := false
		for seed := 0; seed < 300 && !seen; seed++ {
			if made[seed] == nil {
				made[seed] = steps.Example(seed)
			}
			seen = compare(filepath.Join(dir, fmt.Sprint(name, seed)), made[seed], wrap) != nil
		}
		if !seen {
			t.Errorf("a ledger that %s was not seen", name)
		}
	}
}
