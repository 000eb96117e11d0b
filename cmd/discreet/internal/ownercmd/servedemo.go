package ownercmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server"
	"github.com/discreet-dp/discreet/internal/server/users"
	page "github.com/discreet-dp/discreet/internal/server/web"
)

// serveDemo is a made-up hospital with users whose passwords are no secret.
type serveDemo struct {
	dir         string
	people      []demoUser
	certificate string
}

type demoUser struct {
	name            string
	role            users.Role
	password, token string
}

// newServeDemo makes the hospital in a temporary folder. Where the usual ports are taken it takes
// others.
func newServeDemo(ctx context.Context, c *ServeCmd, config *server.Config) (d *serveDemo, err error) {
	d = &serveDemo{certificate: c.TLSCert, people: []demoUser{{name: "ana", role: users.Analyst}, {name: "ben", role: users.Analyst},
		{name: "owner", role: users.Owner}}}
	if d.dir, err = os.MkdirTemp("", "discreet-serve-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.remove()
		}
	}()
	config.Policy, config.Users = filepath.Join(d.dir, "policy.yaml"), filepath.Join(d.dir, "policy.users")
	if err := hospital.New(4000, 1).Write(filepath.Join(d.dir, "data")); err != nil {
		return nil, err
	}
	if err := os.WriteFile(config.Policy, []byte("datasets:\n"+hospital.Dataset("hospital", "data", hospital.DemoBudget)),
		0o600); err != nil {
		return nil, err
	}
	if err := d.addUsers(ctx, config.Users); err != nil {
		return nil, err
	}
	config.Listen = UsualOrFreePort(c.Listen, DefaultListen)
	config.HTTP = UsualOrFreePort(c.HTTP, DefaultHTTP)
	return d, nil
}

func (d *serveDemo) addUsers(ctx context.Context, path string) error {
	store, err := users.Open(path)
	if err != nil {
		return err
	}
	for i := range d.people {
		p := &d.people[i]
		if p.password, err = store.Add(ctx, p.name, p.role, ""); err != nil {
			break
		}
		if p.token, _, err = store.NewToken(ctx, p.name, "demo", time.Time{}); err != nil {
			break
		}
	}
	return errors.Join(err, store.Close())
}

func (d *serveDemo) remove() { os.RemoveAll(d.dir) }

// UsualOrFreePort returns any free port instead of the usual one, where that is taken and nobody
// asked for it.
func UsualOrFreePort(address, usual string) string {
	if address != usual {
		return address
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return "127.0.0.1:0"
	}
	if err == nil {
		l.Close()
	}
	return address
}

// tour prints who may come in, and lines to paste.
func (d *serveDemo) tour(s console.Screen, srv *server.Server) {
	fmt.Fprintln(s.Out, "\nThis is a made-up hospital, deleted when the server ends. These users can sign in:")
	t := &render.Table{Header: []string{"user", "role", "password", "token"}, Right: make([]bool, 4)}
	for _, p := range d.people {
		t.Add(p.name, string(p.role), p.password, p.token)
	}
	t.Write(s.Out)
	const question = "SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis"
	ana := d.people[0]
	if a := srv.HTTPAddr(); a != nil && page.Built {
		fmt.Fprintf(s.Out, "\nOpen %s/ in a browser and sign in as ana, or as owner.\n", webAddress(a, srv.Encrypted()))
	}
	fmt.Fprintln(s.Out, "\nOr try:")
	if a := srv.WireAddr(); a != nil {
		fmt.Fprintf(s.Out, "  %s -c %s\n", psqlLine(a, srv.Encrypted(), "hospital", url.UserPassword(ana.name, ana.password)),
			console.ShellQuote(question))
	}
	if a := srv.HTTPAddr(); a != nil {
		trust := ""
		if srv.Encrypted() {
			trust = "--cacert " + console.ShellQuote(d.certificate) + " "
		}
		fmt.Fprintf(s.Out, "  curl %s%s/v1/query -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' -d %s\n",
			trust, webAddress(a, srv.Encrypted()), ana.token, console.ShellQuote(`{"dataset": "hospital", "sql": "`+question+`"}`))
	}
	fmt.Fprintln(s.Out)
}
