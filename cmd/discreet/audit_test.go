package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/internal/audit/finding"
)

func TestAudit(t *testing.T) {
	r := command("audit", "laplace", "randomized-response", "--samples", "20000").wants(t, 0, "lost at least", "laplace", "randomized-response", "statistical", "40000", "every claim stands")
	if r.lacks(t, "gaussian", "FALLS"); strings.Count(r.out, "stands") != 5 {
		t.Errorf("got %s", r.out)
	}
	v := command("audit", "gaussian", "--samples", "20000", "--json").wants(t, 0).decode(t)
	all, ok := v["findings"].([]any)
	if !ok || v["stands"] != true || len(all) != 2 {
		t.Fatalf("got %v", v)
	}
	if f := all[1].(map[string]any); f["subject"] != "gaussian" || f["unit"] != "mu" || f["claim"] != 1.0 || f["samples"] != 40000.0 || f["detail"] == "" {
		t.Errorf("got %v", f)
	}
}

// Everything, with few samples.
func TestAuditEverything(t *testing.T) {
	command("audit", "--samples", "2000").wants(t, 0, audit.Names()...)
}

func TestAuditRefuses(t *testing.T) {
	command("audit", "laplance").wants(t, 2, append(audit.Names(), `no mechanism "laplance"`)...)
	command("audit", "laplance", "--json").fails(t, 2, "refused")
	for _, n := range []string{"0", "99", "2000000000"} {
		command("audit", "--samples", n).wants(t, 2, "write a number from 100 to 1000000000")
	}
	command("audit", "--samples=-5").wants(t, 2, "write a number from 100")
	command("audit", "--samples", "many").wants(t, 2, "discreet audit --help")
}

// A claim that falls is said in words and in the exit code.
func TestAuditFalls(t *testing.T) {
	all := []finding.Finding{
		{Subject: "laplace", Check: "exact", Claim: 1, Unit: "epsilon", Lower: 1, Stands: true},
		{Subject: "count", Check: "statistical", Claim: 1, Unit: "epsilon", Lower: 1.0371, Samples: 2000000, Detail: "outcome >= 1: 364827 of 492096"},
	}
	for _, asJSON := range []bool{false, true} {
		var out, errs bytes.Buffer
		s := screen{&out, &errs}
		err := (&auditCmd{JSON: asJSON}).show(s, all)
		if code := report(s, asJSON, err); code != exitFailed || !strings.Contains(errs.String(), "1 of 2 checks") {
			t.Errorf("exit code %d, %q", code, errs.String())
		}
		for _, text := range map[bool][]string{false: {"FALLS", "1.037 ", "count, statistical: outcome >= 1"}, true: {`"stands": false`, `"lower":1.0371`}}[asJSON] {
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
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if err := (&auditCmd{Samples: 1000}).Run(ctx, screen{&out, &errs}); !errors.Is(err, context.Canceled) || out.Len() > 0 {
		t.Errorf("got %v, %q", err, out.String())
	}
}
