package querycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/client"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/render"
)

type AskCmd struct {
	At        []string          `help:"The servers: names from the file of servers, or addresses such as https://db.example:8432/hospital." required:"" placeholder:"SERVER"`
	Servers   string            `help:"The file of servers: the name and address of each, and where your token for it is." placeholder:"FILE" env:"DISCREET_SERVERS"`
	TokenFile []string          `help:"Your tokens for servers given by address, in the same order: a file for each." placeholder:"FILE"`
	Epsilon   *string           `help:"What to pay each server; each has a default and a maximum." placeholder:"EPSILON"`
	Set       map[string]string `help:"Settings of the answer, as for discreet query. dp.error is the error at each server." placeholder:"NAME=VALUE" mapsep:";"`
	Request   *string           `help:"Name the question for retries: the same request is charged once at each server." placeholder:"ID"`
	Price     bool              `help:"Show what it would cost at each server, and how exact the total would be. Free."`
	JSON      bool              `help:"Print JSON." name:"json"`
	SQL       string            `arg:"" help:"One SELECT with counts, sums and averages; - reads it from standard input."`
}

func (AskCmd) Help() string {
	return `Asks several servers the same question. Each charges its own ledger first. Their answers are then combined: counts and
sums are added up, and averages are computed from these, with the error bars of the sum of all noises. Rows are matched
by their keys. Results that do not add up are refused before any server is asked: medians and other quantiles, COUNT
DISTINCT, HAVING, LIMIT, private keys, anything computed from noisy numbers. A person in the data of two servers counts
twice, and every answer says so.

  discreet ask --at north,south --servers servers.yaml 'SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex'
  discreet ask --at https://north.example:8432,https://south.example:8432/clinic --token-file north.token,south.token \
    --price 'SELECT COUNT(*) FROM patients'

where servers.yaml has

  servers:
    north: {url: "https://north.example:8432", dataset: hospital, token_file: north.token}
    south: {url: "https://south.example:8432", token_env: SOUTH_TOKEN}

Prices come first: if a server is away, refuses or has not enough left, none is asked and nothing is charged. If one
fails after that, the answers of the others are paid for and kept there, and the same command with --request asks again
without a second charge.`
}

// Run runs it.
// NeverCharges tells who interrupts it that nothing can have been charged.
func (c *AskCmd) NeverCharges() bool { return c.Price }

func (c *AskCmd) Run(ctx context.Context, s console.Screen) error {
	q, err := c.readQuestion(s.In)
	if err != nil {
		return err
	}
	servers, err := c.findServers()
	if err != nil {
		return console.Misuse(err)
	}
	group := client.Together(servers...)
	done := console.WaitingFor(s.Err, func() string { return "asking" })
	if c.Price {
		quote, err := group.Price(ctx, q)
		done()
		if err != nil {
			return err
		}
		if c.JSON {
			return console.PrintJSON(s.Out, quote)
		}
		printFederatedQuote(s.Out, quote)
		return nil
	}
	answer, err := group.Ask(ctx, q)
	done()
	if errors.As(err, new(*client.Partial)) {
		return console.NotInOrder(err) // whoever interrupted it has to know who was charged, and the request
	}
	if err != nil {
		return err
	}
	for _, one := range answer.Servers {
		for _, alert := range one.Answer.Alerts {
			fmt.Fprintln(s.Err, "notice: "+one.Server+": "+alert.String())
		}
	}
	if c.JSON {
		return console.PrintJSON(s.Out, answer)
	}
	printFederatedAnswer(s.Out, answer)
	return nil
}

// maxScriptBytes is how long a question on standard input may be.
const maxScriptBytes = 1 << 20

func (c *AskCmd) readQuestion(in io.Reader) (q client.Question, err error) {
	q = client.Question{SQL: c.SQL, Settings: c.Set}
	if c.SQL == "-" {
		text, err := io.ReadAll(io.LimitReader(in, maxScriptBytes+1))
		if err != nil {
			return q, err
		}
		if len(text) > maxScriptBytes {
			return q, console.Misuse(fmt.Errorf("standard input is longer than %d bytes", maxScriptBytes))
		}
		q.SQL = string(text)
	}
	if c.Epsilon != nil {
		if q.Epsilon, err = dp.Parse(*c.Epsilon); err == nil && q.Epsilon == 0 {
			err = errors.New("an answer needs an epsilon above 0; write for example 0.1")
		}
		if err != nil {
			return q, console.Misuse(fmt.Errorf("--epsilon: %w", err))
		}
	}
	if c.Request != nil {
		if q.Request = *c.Request; q.Request == "" {
			return q, console.Misuse(errors.New("--request is empty; name the question, or leave it out"))
		}
	}
	return q, nil
}

// findServers returns the servers that are named: by addresses, each with a file of a token, or by
// names that the file of servers has. No token goes to two servers.
func (c *AskCmd) findServers() (out []*client.Server, err error) {
	var directory *client.Directory
	tokens := c.TokenFile
	for _, at := range c.At {
		var s *client.Server
		switch {
		case strings.Contains(at, "://"):
			if len(tokens) == 0 {
				return nil, fmt.Errorf("there is no token for %s: give --token-file with a file for each address, or a file of "+
					"servers", at)
			}
			var token []byte
			if token, err = os.ReadFile(tokens[0]); err == nil {
				s, err = client.New(at, string(token))
			}
			tokens = tokens[1:]
		case c.Servers == "":
			return nil, fmt.Errorf("%q is not an address such as https://db.example:8432, and names need a file of servers: give "+
				"--servers",
				at)
		default:
			if directory == nil {
				if directory, err = client.ReadDirectory(c.Servers); err != nil {
					return nil, err
				}
			}
			s, err = directory.Server(at)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if len(tokens) > 0 {
		return nil, errors.New("there are more files of tokens than addresses")
	}
	return out, nil
}

// printFederatedAnswer shows the rows of all servers, and what each of them has charged.
func printFederatedAnswer(w io.Writer, a *client.Answer) {
	shown := &api.Answer{Columns: a.Columns, Rows: a.Rows, Errors: a.Errors, Confidence: a.Confidence, Shown: a.Shown}
	if slices.ContainsFunc(a.Of, func(n int) bool { return n < len(a.Servers) }) {
		shown = addServersColumn(shown, a)
	}
	render.Rows(w, shown)
	for _, n := range a.Notes {
		fmt.Fprintln(w, "note: "+render.Clean(n))
	}
	for _, n := range serverNotes(a.Servers) {
		fmt.Fprintln(w, "note: "+render.Clean(n))
	}
	t := &render.Table{Header: []string{"server", "price", "left", "data version", "record", "receipt"},
		Right: []bool{false, false, false, true, true, false}}
	for _, s := range a.Servers {
		version := fmt.Sprint(s.Answer.Version.Number)
		if s.Answer.Version.Name != "" {
			version += ": " + s.Answer.Version.Name
		}
		hash := s.Answer.Receipt.Hash
		t.Add(s.Server, render.Paid(s.Answer), render.Left(s.Answer.Remaining), version, fmt.Sprint(s.Answer.Receipt.Sequence),
			hash[:min(16, len(hash))])
	}
	fmt.Fprintln(w)
	t.Write(w)
}

// addServersColumn adds a column that says of how many servers a row is.
func addServersColumn(shown *api.Answer, a *client.Answer) *api.Answer {
	out := *shown
	out.Columns = append(slices.Clip(shown.Columns), api.Column{Name: "servers", Kind: "text", Decimals: -1})
	out.Rows, out.Errors = nil, nil
	for i, row := range shown.Rows {
		out.Rows = append(out.Rows, append(slices.Clip(row), fmt.Sprintf("%d of %d", a.Of[i], len(a.Servers))))
		out.Errors = append(out.Errors, append(slices.Clip(shown.Errors[i]), nil))
	}
	return &out
}

// serverNotes are what servers have said about their own answers: once, where all say the same.
func serverNotes(servers []client.Share) []string {
	var out []string
	for _, s := range servers {
		for _, n := range notesOfServer(s) {
			everywhere := !slices.ContainsFunc(servers, func(o client.Share) bool { return !slices.Contains(notesOfServer(o), n) })
			if !everywhere {
				n = s.Server + ": " + n
			}
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// notesOfServer are those of one server, with how much of a person counts there.
func notesOfServer(s client.Share) []string {
	l := s.Answer.Limits
	if l.MaxRows <= 1 && l.MaxGroups <= 1 {
		return s.Answer.Notes
	}
	return append(slices.Clip(s.Answer.Notes), fmt.Sprintf("one person counts with at most %s in each of at most %s; error bars "+
		"leave out the bias of this limit", render.Count(l.MaxRows, "row"), render.Count(l.MaxGroups, "group")))
}

// printFederatedQuote shows what each server would charge, and how exact the total would be.
func printFederatedQuote(w io.Writer, q *client.Quote) {
	errors := &render.Table{Header: []string{"noisy number", render.PlusMinus(q.Confidence) + " of the total"}, Right: []bool{false, true}}
	for i, c := range q.Columns {
		switch {
		case !c.Noisy:
		case q.Errors[i] == nil:
			errors.Add(c.Name, "known with the answer")
		default:
			errors.Add(c.Name, render.Number(*q.Errors[i]))
		}
	}
	errors.Write(w)
	fmt.Fprintln(w)
	t := &render.Table{Header: []string{"server", "noise", "one person moves it by", "price", "left"}, Right: make([]bool, 5)}
	for _, s := range q.Servers {
		noise, moves := "", ""
		for _, i := range s.Price.Questions {
			for _, m := range i.Measures {
				noise += onOneLine(noise) + m.Mechanism + " " + render.Number(m.Deviation)
				moves += onOneLine(moves) + render.Number(m.Sensitivity)
			}
		}
		t.Add(s.Server, noise, moves, render.ToPay(s.Price), render.Left(s.Price.Remaining))
	}
	t.Write(w)
}

func onOneLine(text string) string {
	if text == "" {
		return ""
	}
	return ", "
}
