package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server"
	"github.com/discreet-dp/discreet/internal/server/users"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "server-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	policy, people := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "policy.users")
	if err := errors.Join(hospital.New(100, 1).Write(filepath.Join(dir, "data")),
		os.WriteFile(policy, []byte("datasets:\n"+hospital.Dataset("hospital", "data", "{epsilon: 1}")), 0o600)); err != nil {
		panic(err)
	}

	// A server that nobody can come in to is a mistake.
	config := server.Config{Policy: policy, Users: people, HTTP: "127.0.0.1:0"}
	_, err = server.Open(ctx, config)
	fmt.Println(errors.Is(err, server.ErrNoUsers))

	store, err := users.Open(people)
	if err != nil {
		panic(err)
	}
	if _, err := store.Add(ctx, "ana", users.Analyst, ""); err != nil {
		panic(err)
	}
	store.Close()

	s, err := server.Open(ctx, config)
	if err != nil {
		panic(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve() }()
	r, err := http.Get("http://" + s.HTTPAddr().String() + "/readyz")
	if err != nil {
		panic(err)
	}
	r.Body.Close()
	fmt.Println(r.StatusCode)
	fmt.Println(s.Shutdown(ctx), <-served)
	// Output:
	// true
	// 200
	// <nil> <nil>
}
