package main

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/audit"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	r := command("audit", "laplace", "randomized-response", "--samples", "20000").wants(t, 0, "lost at least", "laplace",
		"randomized-response", "statistical", "40000", "every claim stands")
	if r.lacks(t, "gaussian", "FALLS"); strings.Count(r.out, "stands") != 5 {
		t.Errorf("got %s", r.out)
	}
	v := command("audit", "gaussian", "--samples", "20000", "--json").wants(t, 0).decode(t)
	all, ok := v["findings"].([]any)
	if !ok || v["stands"] != true || len(all) != 2 {
		t.Fatalf("got %v", v)
	}
	if f := all[1].(map[string]any); f["subject"] != "gaussian" || f["unit"] != "mu" || f["claim"] != 1.0 || f["samples"] != 40000.0 ||
		f["detail"] == "" {
		t.Errorf("got %v", f)
	}
}

func TestAuditEverything(t *testing.T) {
	t.Parallel()
	command("audit", "--samples", "2000").wants(t, 0, audit.Names()...)
}

func TestAuditRefuses(t *testing.T) {
	t.Parallel()
	command("audit", "laplance").wants(t, 2, append(audit.Names(), `no mechanism "laplance"`)...)
	command("audit", "laplance", "--json").fails(t, 2, "refused")
	for _, n := range []string{"0", "99", "2000000000"} {
		command("audit", "--samples", n).wants(t, 2, "write a number from 100 to 1000000000")
	}
	command("audit", "--samples=-5").wants(t, 2, "write a number from 100")
	command("audit", "--samples", "many").wants(t, 2, "discreet audit --help")
}
