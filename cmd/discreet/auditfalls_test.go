package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/labcmd"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
)

// A claim that falls is said in words and in the exit code.
func TestAuditFalls(t *testing.T) {
	t.Parallel()
	all := []enumerate.Finding{
		{Subject: "laplace", Check: "exact", Claim: 1, Unit: "epsilon", Lower: 1, Stands: true},
		{Subject: "count", Check: "statistical", Claim: 1, Unit: "epsilon", Lower: 1.0371, Samples: 2000000,
			Detail: "outcome >= 1: 364827 of 492096"},
	}
	for _, asJSON := range []bool{false, true} {
		var out, errs bytes.Buffer
		s := console.Screen{Out: &out, Err: &errs}
		err := (&labcmd.AuditCmd{JSON: asJSON}).Show(s, all)
		if code := console.Report(s, asJSON, err); code != console.ExitFailed || !strings.Contains(errs.String(), "1 of 2 checks") {
			t.Errorf("exit code %d, %q", code, errs.String())
		}
		for _, text := range map[bool][]string{false: {"FALLS", "1.037 ", "count, statistical: outcome >= 1"},
			true: {`"stands": false`, `"lower":1.0371`}}[asJSON] {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%q does not say %q", out.String(), text)
			}
		}
		if strings.Contains(out.String(), "every claim stands") {
			t.Errorf("got %s", out.String())
		}
	}
}

func TestAuditInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	err := (&labcmd.AuditCmd{Samples: 1000}).Run(ctx, console.Screen{Out: &out, Err: &errs})
	if !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("got %v, %q", err, out.String())
	}
}
