// Command discreet asks Discreet the same questions many times, and prints the answers as JSON, a
// line each time. Each time has a new ledger, so every answer is paid for from a whole budget.
//
//	discreet POLICY TIMES <QUESTIONS
//
// where the policy names no ledger, and questions are a list of objects with sql and settings.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
)

type question struct {
	SQL      string            `json:"sql"`
	Settings map[string]string `json:"settings"`
}

func main() {
	log.SetFlags(0)
	times, err := strconv.Atoi(os.Args[2])
	check(err)
	text, err := os.ReadFile(os.Args[1])
	check(err)
	var questions []question
	check(json.NewDecoder(os.Stdin).Decode(&questions))
	out := bufio.NewWriter(os.Stdout)
	for range times {
		check(json.NewEncoder(out).Encode(ask(os.Args[1], text, questions)))
	}
	check(out.Flush())
}

// ask opens the policy with a new ledger, and asks the questions one after the other.
func ask(policy string, text []byte, questions []question) []*api.Answer {
	ledger, err := os.MkdirTemp("", "peers")
	check(err)
	defer os.RemoveAll(ledger)
	path := filepath.Join(filepath.Dir(policy), "asked.yaml") // beside the policy, which names sources relative to it
	check(os.WriteFile(path, fmt.Appendf(nil, "ledger: %s/spent.ledger\n%s", ledger, text), 0o600))
	ctx := context.Background()
	db, err := discreet.Open(ctx, path)
	check(err)
	answers := make([]*api.Answer, len(questions))
	for i, q := range questions {
		settings, err := api.ParseSettings(q.Settings)
		check(err)
		answers[i], err = db.Ask(ctx, api.Question{Analyst: "ana", SQL: q.SQL, Settings: settings})
		check(err)
		if answers[i].Receipt.Free {
			log.Fatalf("an answer was free, so nothing was measured: %s", q.SQL)
		}
	}
	check(db.Close())
	return answers
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
