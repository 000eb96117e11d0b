package querycmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/lab/workbench"
	"github.com/discreet-dp/discreet/internal/localsocket"
	"github.com/discreet-dp/discreet/internal/server"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/version"
	"github.com/discreet-dp/discreet/policy"
)

type AttachCmd struct {
	Policy  string `help:"The policy file; without one, only noise, accounting, and training on rows that are sent to it." placeholder:"FILE" short:"p"`
	As      string `help:"The analyst who asks; you can leave it out if the policy lists only one." placeholder:"NAME"`
	Memory  string `help:"How much memory the engine of each dataset may use, such as 4GB." placeholder:"SIZE"`
	Threads int    `help:"How many cores one question can use; 0 means all." default:"0" placeholder:"N"`
}

func (AttachCmd) Help() string {
	return `For programs, which start it and hold its standard input open; it ends when that is closed, even if the program is
killed. Its first line is JSON that names the socket and the token to use; only this user can open the folder of the
socket. With a policy it is the HTTP interface of 'discreet serve' for one analyst. Answers leave as soon as they are
ready, as those of 'discreet query' do, unless the policy says 'release'. Without a policy it draws noise, accounts,
and trains on rows that it is sent. The Python package is built on it.

  discreet attach --policy hospital.yaml --as ana
  discreet attach`
}

type attachGreeting struct {
	Address string `json:"address"`
	Folder  string `json:"folder"`
	Token   string `json:"token"`
	Analyst string `json:"analyst,omitempty"`
	Version string `json:"version"`
}

// attachDrainTimeout is how long questions may take to finish at the end.
const attachDrainTimeout = 30 * time.Second

// Run serves until standard input ends.
func (c *AttachCmd) Run(ctx context.Context, s console.Screen) (err error) {
	ctx, cancel := localsocket.WhileOpen(ctx, s.In)
	defer cancel()
	socket, err := localsocket.Listen()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, socket.Close()) }()
	hello := attachGreeting{Address: socket.Address(), Folder: socket.Folder, Version: version.Version}
	if c.Policy != "" {
		return c.serve(ctx, s, socket, hello)
	}
	if c.As != "" {
		return console.Misuse(errors.New("--as needs a policy; name it with --policy"))
	}
	hello.Token = localsocket.NewToken()
	bench := &http.Server{Handler: localsocket.RequireToken(hello.Token, workbench.New()), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	ended := make(chan error, 1)
	go func() { ended <- bench.Serve(socket) }()
	if err := printGreeting(s, hello); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return bench.Close()
	}
}

func printGreeting(s console.Screen, hello attachGreeting) error {
	line, err := json.Marshal(hello)
	if err == nil {
		_, err = fmt.Fprintf(s.Out, "%s\n", line)
	}
	return err
}

func (c *AttachCmd) serve(ctx context.Context, s console.Screen, socket *localsocket.Socket, hello attachGreeting) error {
	p, err := policy.Load(c.Policy)
	if err != nil {
		return err
	}
	if hello.Analyst, err = c.chooseAnalyst(p); err != nil {
		return console.Misuse(err)
	}
	where := filepath.Join(socket.Folder, "users")
	if hello.Token, err = addAttachedUser(ctx, where, hello.Analyst); err != nil {
		return err
	}
	srv, err := server.Begin(ctx, server.Config{Policy: c.Policy, Users: where, Web: socket, Immediate: true, Memory: c.Memory,
		Threads: c.Threads, Version: version.Version,
		// Whoever has the data has nobody to be protected from, and waits for as long as they like.
		Rate: 600_000, Timeout: 24 * time.Hour,
		Log: slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve() }()
	if err = srv.OpenData(ctx); err == nil {
		err = printGreeting(s, hello)
	}
	if err == nil {
		select {
		case err = <-served:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // it was told to end while it opened the data
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), attachDrainTimeout)
	defer stop()
	return errors.Join(err, console.NotInOrder(srv.Shutdown(last)))
}

func (c *AttachCmd) chooseAnalyst(p *policy.Policy) (string, error) {
	var names []string
	for _, dataset := range p.Names() {
		names = append(names, p.Datasets[dataset].AnalystNames()...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case slices.Contains(names, c.As):
		return c.As, nil
	case len(names) == 0:
		return "", errors.New("the policy lists no analysts, so nobody can ask; list one under analysts")
	case c.As != "":
		return "", fmt.Errorf("the policy lists no analyst %q; it lists %s", c.As, strings.Join(names, ", "))
	case len(names) > 1:
		return "", fmt.Errorf("the policy lists several analysts: say which of %s asks", strings.Join(names, ", "))
	}
	return names[0], nil
}

// addAttachedUser makes a file of users with one in it, who has a token.
func addAttachedUser(ctx context.Context, where, name string) (token string, err error) {
	store, err := users.Open(where)
	if err != nil {
		return "", err
	}
	if _, err = store.Add(ctx, name, users.Analyst, ""); err == nil {
		token, _, err = store.NewToken(ctx, name, "attached", time.Time{})
	}
	return token, errors.Join(err, store.Close())
}
