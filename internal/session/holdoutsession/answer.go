package holdoutsession

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/mechanism/holdout"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
)

func (p *submission) answer(a *holdout.Answer) *api.HoldoutAnswer {
	out := &api.HoldoutAnswer{
		Dataset: p.open.board.host.Dataset.Name, Holdout: p.of.Name, Score: showScore(a.Score), Spent: a.Spent,
		Training: showScore(p.training),
		Error:    p.error(a.Spent), Confidence: answers.SixDecimals(1 - p.beta), Left: a.Left, Free: a.Cost == dp.Cost{}, Again: a.Again,
		Cost:    a.Cost,
		Receipt: api.Receipt{Sequence: a.Receipt.Sequence, Hash: a.Receipt.Hash, Free: a.Cost == dp.Cost{}},
	}
	out.Notes = p.notes(out)
	return out
}

// error is the error bar of an answer.
func (p *submission) error(spent bool) float64 {
	if spent {
		return p.open.tariff.Answered(p.beta)
	}
	return p.open.tariff.Confirmed(p.beta)
}

// notes are what a reader should know.
func (p *submission) notes(a *api.HoldoutAnswer) []string {
	var out []string
	probability := strconv.FormatFloat(a.Confidence, 'g', -1, 64)
	if a.Spent {
		out = append(out,
			fmt.Sprintf("the holdout contradicts the training value %s: this score comes from the holdout, with noise of scale %s, and "+
				"is within %.4f of its mean with probability %s", a.Training, showScore(p.of.Noise), a.Error, probability))
	} else {
		out = append(out,
			fmt.Sprintf("the holdout confirms the training value: this score is that value as it was given, and the mean over the "+
				"holdout is within %.4f of it with probability %s", a.Error, probability))
	}
	switch {
	case a.Again:
		out = append(out, "it was answered before, and is free")
	case a.Free:
		out = append(out, "its round had been paid for, so it is free")
	default:
		out = append(out, "it is the first of a round, and paid for the whole round: all further scores are free up to and including the "+
			"next one that the holdout contradicts")
	}
	return append(out, fmt.Sprintf("%d of %d answers from the holdout are left", a.Left, p.of.Answers))
}

// showScore writes a score: all its digits where they end, and nine of them where they do not.
func showScore(x *big.Rat) string {
	for digits := range 13 {
		if new(big.Rat).Mul(x, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))).IsInt() {
			return x.FloatString(digits)
		}
	}
	return strings.TrimRight(x.FloatString(9), "0")
}

// table is the answer as one of SQL: one row with the score.
func (p *submission) table(a *api.HoldoutAnswer) *api.Answer {
	half := a.Error
	return &api.Answer{
		Columns: p.columns(), Rows: [][]any{{json.Number(a.Score)}}, Errors: [][]*float64{{&half}}, Confidence: a.Confidence,
		Notes: a.Notes, Cost: a.Cost, Remaining: a.Remaining, Receipt: a.Receipt, Version: a.Version, Alerts: a.Alerts,
		Limits: api.Limits{MaxRows: 1, MaxGroups: 1},
	}
}

func (p *submission) columns() []api.Column {
	return []api.Column{{Name: p.query.Name, Kind: "real", Type: "float8", Noisy: true, Approximate: true, Decimals: -1}}
}

// explanation says what a score would cost and how exact it would be.
func (p *submission) explanation(s holdout.Status) api.Inquiry {
	deviation, _ := p.of.Noise.Float64()
	answered := p.open.tariff.Answered(p.beta)
	why := fmt.Sprintf("Thresholdout: the score is compared with the training value %s. If they are less than about %s apart, the "+
		"answer is the training value, which is then within %.4f of the mean over the holdout; if not, it is the mean with noise, "+
		"within %.4f, and one of the %d answers that are left is used up. A round is paid for once, and lasts until that "+
		"happens", showScore(p.training), showScore(p.of.Threshold), p.open.tariff.Confirmed(p.beta), answered,
		s.Left)
	if s.Open {
		why += ". A round is open, so this score is free"
	}
	return api.Inquiry{
		Tables: []string{p.of.Table}, Keys: []api.KeyInquiry{}, Groups: 1, MaxRows: 1, MaxGroups: 1, Known: s.Known,
		Record: s.Receipt.Sequence,
		Bounds: fmt.Sprintf("one person is one row, and counts from 0 to 1; scores are means over %d people", p.open.config.Size),
		Measures: []api.Measurement{{
			Measure: "holdout_mean(" + p.query.Describe() + ")", Mechanism: "thresholdout", Sensitivity: 1 / float64(p.open.config.Size),
			Norm: "l1",
			Step: fmt.Sprintf("1/%d", p.open.config.Size*p.open.config.Steps), Deviation: deviation, Error: &answered, Why: why,
			Cost: p.open.tariff.Round,
		}},
		Cost: p.open.tariff.Round,
	}
}

// Limits of a board. Every line is a record of the ledger.
const (
	maxBoardName  = 60     // characters
	maxBoardLines = 10_000 // entries, also those that later ones have replaced
)

// boardName cleans a name: what is left is one line that moves no cursor and hides nothing.
func boardName(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", api.Refuse("write it in UTF-8", "the name for the board is not text")
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
		return "", api.Refuse("write letters, digits and signs", "the name for the board has characters that cannot be seen")
	}
	name := strings.Join(strings.Fields(text), " ")
	if n := utf8.RuneCountInString(name); n > maxBoardName {
		return "", api.Refuse(fmt.Sprintf("write at most %d", maxBoardName), "the name for the board has %d characters", n)
	}
	if name == "" && text != "" {
		return "", api.Refuse("write a name, or leave it out", "the name for the board is empty")
	}
	return name, nil
}

// board is what was put on the board of a session. It is in a journal of its own. All analysts of
// the dataset see it: what is on it was released, and who puts a score there wants it to be seen.
type board struct {
	host *sessionhost.Host

	mu    sync.Mutex
	lines []boardEntry
}

// boardEntry is one line of the journal. The last one of an analyst with a name is the one that
// stands.
type boardEntry struct {
	Name    string    `json:"name"`
	Analyst string    `json:"analyst"`
	Key     string    `json:"key"` // the question's
	Score   string    `json:"score"`
	Spent   bool      `json:"spent"`
	Time    time.Time `json:"time"`
}

// current reads what the journal has more than the lines.
func (b *board) current(ctx context.Context) error {
	entries, err := b.host.EntriesAfter(ctx, len(b.lines))
	if err != nil {
		return err
	}
	for _, text := range entries {
		var e boardEntry
		if err := json.Unmarshal(text, &e); err != nil {
			return answercache.ErrUnreadable
		}
		b.lines = append(b.lines, e)
	}
	return nil
}

// onBoard puts a score on the board, where it has a name. The score is in the session's journal by
// now, so where this fails the same question again is free, and tries again.
func (c *Sessions) onBoard(ctx context.Context, p *submission, a *api.HoldoutAnswer, q api.HoldoutQuestion) error {
	if p.name == "" {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	b := p.open.board
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.current(ctx); err != nil {
		return err
	}
	// The time is for readers, and decides nothing.
	e := boardEntry{Name: p.name, Analyst: q.Analyst, Key: p.key, Score: a.Score, Spent: a.Spent, Time: c.now().UTC().Truncate(time.Second)}
	for i := len(b.lines) - 1; i >= 0; i-- {
		if l := b.lines[i]; l.Name == e.Name && l.Analyst == e.Analyst {
			if l.Key == e.Key {
				return nil // it is there
			}
			break
		}
	}
	if len(b.lines) >= maxBoardLines {
		a.Notes = append(a.Notes, "the board is full, so this score is not on it")
		return nil
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	// Where it fails it may be there or not, which is read before the next one.
	return b.host.Append(ctx, text)
}

// Board returns the board of a holdout as its data is now, the best score first. Of the scores that
// an analyst gave one name, the last stands. It is free, and looks at nothing that was not
// released.
func (c *Sessions) Board(ctx context.Context, name string) ([]api.BoardLine, error) {
	h, err := c.holdout(ctx, api.HoldoutQuestion{Holdout: name})
	if err != nil {
		return nil, err
	}
	p := &submission{of: h, beta: 1 - api.Confidence}
	if err := c.openNamed(ctx, p); err != nil {
		return nil, err
	}
	b := p.open.board
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.current(ctx); err != nil {
		return nil, err
	}
	return p.lines(b.lines), nil
}

// lines orders what stands on a board.
func (p *submission) lines(entries []boardEntry) []api.BoardLine {
	type line struct {
		api.BoardLine
		score *big.Rat
	}
	var all []line
	seen := map[[2]string]bool{}
	for _, e := range slices.Backward(entries) {
		who := [2]string{e.Analyst, e.Name}
		score, ok := new(big.Rat).SetString(e.Score)
		if seen[who] || !ok {
			continue
		}
		seen[who] = true
		all = append(all,
			line{api.BoardLine{Name: e.Name, Analyst: e.Analyst, Score: e.Score, Spent: e.Spent, Error: p.error(e.Spent), Time: e.Time},
				score})
	}
	slices.Reverse(all) // the earliest of equals first
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Or(b.score.Cmp(a.score), a.Time.Compare(b.Time)) })
	out := make([]api.BoardLine, len(all))
	for i, l := range all {
		out[i] = l.BoardLine
		out[i].Rank = i + 1
		if i > 0 && l.score.Cmp(all[i-1].score) == 0 {
			out[i].Rank = out[i-1].Rank
		}
	}
	return out
}
