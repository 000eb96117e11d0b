package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/client"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server"
	"github.com/discreet-dp/discreet/internal/server/users"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "client-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	north, south := serve(filepath.Join(dir, "north"), 1), serve(filepath.Join(dir, "south"), 2)

	together := client.Together(north, south)
	answer, err := together.Ask(ctx, client.Question{SQL: "SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex"})
	if err != nil {
		panic(err)
	}
	for i, row := range answer.Rows {
		fmt.Println(row[0], "of", answer.Of[i], "servers, with an error bar:", *answer.Errors[i][1] > 0)
	}
	fmt.Println(answer.Notes[0])

	_, err = together.Ask(ctx, client.Question{SQL: "SELECT MEDIAN(age) FROM patients"})
	fmt.Println(err)
	// Output:
	// F of 2 servers, with an error bar: true
	// M of 2 servers, with an error bar: true
	// X of 2 servers, with an error bar: true
	// a person in the data of two of these servers counts twice, which no error bar shows; what can be learnt about them is what both budgets allow together
	// this cannot be combined: median is a quantile (as MIN, MAX and medians are), and the quantiles of several servers do not give that of all; ask for counts: how many there are below some values
}

// serve runs a server on a made-up hospital, and returns how to ask it.
func serve(dir string, seed uint64) *client.Server {
	ctx := context.Background()
	policy, people := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "policy.users")
	text := "datasets:\n" + hospital.Dataset("hospital", "data", "{epsilon: 1}") + "    release: immediate\n"
	if err := errors.Join(os.Mkdir(dir, 0o700), hospital.New(100, seed).Write(filepath.Join(dir, "data")),
		os.WriteFile(policy, []byte(text), 0o600)); err != nil {
		panic(err)
	}
	store, err := users.Open(people)
	if err != nil {
		panic(err)
	}
	if _, err := store.Add(ctx, "ana", users.Analyst, ""); err != nil {
		panic(err)
	}
	token, _, err := store.NewToken(ctx, "ana", "notebook", time.Time{})
	if err != nil {
		panic(err)
	}
	store.Close()
	s, err := server.Open(ctx, server.Config{Policy: policy, Users: people, HTTP: "127.0.0.1:0"})
	if err != nil {
		panic(err)
	}
	go s.Serve()
	c, err := client.New("http://"+s.HTTPAddr().String()+"/hospital", token)
	if err != nil {
		panic(err)
	}
	return c
}
