package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// private is an open policy with a new ledger.
type private struct {
	db     *discreet.DB
	folder string
	opened time.Duration // how long it took to open the data
}

func open(ctx context.Context, policy string) (*private, error) {
	folder, err := os.MkdirTemp("", "tpch")
	if err != nil {
		return nil, err
	}
	p := &private{folder: folder}
	path := filepath.Join(folder, "policy.yaml")
	if err := os.WriteFile(path, []byte(policy), 0o600); err != nil {
		return nil, p.close(err)
	}
	start := time.Now()
	if p.db, err = discreet.Open(ctx, path); err != nil {
		return nil, p.close(err)
	}
	if err := p.db.Warm(ctx); err != nil {
		return nil, p.close(err)
	}
	p.opened = time.Since(start)
	return p, nil
}

// ask asks a question that was not paid for before, at epsilon 1 unless another is given.
func (p *private) ask(ctx context.Context, text string, settings api.Settings, epsilon dp.Amount) (*api.Answer, time.Duration, error) {
	start := time.Now()
	a, err := p.db.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Settings: settings, Epsilon: epsilon})
	took := time.Since(start)
	if err == nil && a.Receipt.Free {
		err = fmt.Errorf("an answer was free, so nothing was measured: %s", text)
	}
	return a, took, err
}

// close closes everything, and returns why.
func (p *private) close(why error) error {
	if p.db != nil {
		p.db.Close()
	}
	os.RemoveAll(p.folder)
	return why
}
