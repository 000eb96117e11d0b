package holdoutsession

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/memory"
)

// Limits of a board. Every line is a record of the ledger.
const (
	maxBoardName  = 60     // characters
	maxBoardLines = 10_000 // entries, also those that later ones have replaced
)

// boardName cleans a name: what is left is one line that moves no cursor and hides nothing.
func boardName(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", api.Refuse("write it in UTF-8", "the name for the board is no text")
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
	host *interactive.Host

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
			return memory.ErrUnreadable
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
