// Package askcmd has discreet ask: one question to several servers.
package askcmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/client"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
)

// AskCmd is discreet ask.
type AskCmd struct {
	At        []string          `help:"The servers: names of the file of servers, or addresses such as https://db.example:8432/hospital." required:"" placeholder:"SERVER"`
	Servers   string            `help:"The file of servers: what each is called, where it is, and where your token for it is." placeholder:"FILE" env:"DISCREET_SERVERS"`
	TokenFile []string          `help:"Your tokens for the servers that are given by their addresses, in their order: a file for each." placeholder:"FILE"`
	Epsilon   *string           `help:"What to pay each server; each has a default and a maximum." placeholder:"EPSILON"`
	Set       map[string]string `help:"Settings of the answer, as for discreet query. dp.error is that of each server." placeholder:"NAME=VALUE" mapsep:";"`
	Request   *string           `help:"Name the question for retries: the same request is charged once at each server." placeholder:"ID"`
	Price     bool              `help:"Say what it would cost at each server, and how exact the total would be. Free."`
	JSON      bool              `help:"Print JSON." name:"json"`
	SQL       string            `arg:"" help:"One SELECT with counts, sums and averages; - reads it from standard input."`
}

func (AskCmd) Help() string {
	return `Asks several servers the same question, each of which charges its own ledger first, and puts their answers together:
counts and sums are added up, and averages are made of both, with the error bars of the sum of all noises. Rows belong
together by their keys. What does not add up is refused before anybody is asked: medians and other quantiles, COUNT
DISTINCT, HAVING, LIMIT, private keys, whatever is computed from noisy numbers. Who is in the data of two servers counts
twice, which every answer says.

  discreet ask --at north,south --servers servers.yaml 'SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex'
  discreet ask --at https://north.example:8432,https://south.example:8432/clinic --token-file north.token,south.token \
    --price 'SELECT COUNT(*) FROM patients'

where servers.yaml has

  servers:
    north: {url: "https://north.example:8432", dataset: hospital, token_file: north.token}
    south: {url: "https://south.example:8432", token_env: SOUTH_TOKEN}

Prices come first: where a server is away, refuses or has not enough left, nobody is asked and nothing is charged. Where
one fails after that, what the others have answered is paid for and kept there, and the same command with --request asks
again without a second charge.`
}

// Run runs it.
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

// readQuestion is what is asked.
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
