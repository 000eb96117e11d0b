package main

import (
	"bytes"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

func TestBudgetForecast(t *testing.T) {
	onThatDay(t)
	policy := deploy(t, tenQuestions)
	command("budget", "-p", policy).wants(t, 0, "hospital/ben", "lasts: nothing was spent yet", "0 %").lacks(t,
		" half  ", "LOW", "out of order")
	s := newScribe(t, policy)
	s.charge("a", day(10), dp.One/8, 0)
	s.charge("b", day(5), dp.One/8, 0)
	s.save()
	command("budget", "-p", policy).wants(t, 0, "it is too early to say: 2 charges in 10 days", "25 %")

	policy = deploy(t, tenQuestions)
	s = newScribe(t, policy)
	for i, ago := range []float64{10, 7, 5, 1} {
		s.charge(string(rune('a'+i)), day(ago), dp.One/8, 0)
	}
	s.save()
	r := command("budget", "-p", policy).wants(t, 0, "50 %  half", "lasts until 2026-11-25, 10 days (epsilon 0.05 a day over 10 days)",
		"·█··█·█···█·")
	if strings.Contains(r.out, "\x1b") {
		t.Errorf("there are colours without a terminal: %q", r.out)
	}
	j := command("budget", "-p", policy, "--json").wants(t, 0).decode(t)
	a := j["accounts"].([]any)[0].(map[string]any)
	f := a["forecast"].(map[string]any)
	if a["name"] != "hospital" || f["status"] != "lasting" || f["charges"] != 4.0 || f["until"] != "2026-11-25" ||
		f["claim"] != "epsilon" || j["mended_times"] != 0.0 {
		t.Errorf("got %v", a)
	}
	if ben := j["accounts"].([]any)[2].(map[string]any); ben["forecast"].(map[string]any)["status"] != "too early" {
		t.Errorf("got %v", ben)
	}
}

// Clocks that were wrong, recoveries, and accounts at their end.
func TestBudgetEdges(t *testing.T) {
	onThatDay(t)
	policy := deploy(t, tenQuestions)
	s := newScribe(t, policy)
	for i, ago := range []float64{10, 20_000, -900, 5, 1} {
		s.charge(string(rune('a'+i)), day(ago), dp.One/8, 0)
	}
	s.add(&ledger.Record{Kind: ledger.KindRecovery, Time: day(1), Reason: "the disk",
		Balances: []ledger.Balance{{Account: "hospital", Spent: dp.Cost{Epsilon: dp.One / 100 * 97, Rho: dp.Unbounded}}}})
	s.save()
	picture := beside(policy, "out.svg")
	command("budget", "-p", policy, "--plot", picture).wants(t, 0, "97 %  ALMOST OUT", "62 %  half",
		"lasts until 2026-11-21, 6 days (epsilon 0.0625 a day over 10 days)", "2 charges have times out of order",
		"wrote ").lacks(t, "20000", "55 days")
	if text := contents(t, picture); !strings.Contains(text, "limit of hospital") || !strings.Contains(text, "epsilon") {
		t.Errorf("the picture is %.300s", text)
	}

	policy = deploy(t, tenQuestions)
	s = newScribe(t, policy)
	s.charge("all", day(3), dp.One, 0)
	s.save()
	command("budget", "-p", policy).wants(t, 0, "100 %  NOTHING LEFT", "is used up")

	policy = deploy(t, tenQuestions)
	s = newScribe(t, policy)
	s.owner()
	s.topUp(day(9), dp.One)
	for i := range 4 {
		s.charge(string(rune('a'+i)), day(90), dp.One/8, dp.One)
	}
	s.save()
	command("budget", "-p", policy).wants(t, 0, "nothing was spent in the last 30 days", "25 %")
	picture = beside(policy, "out.png")
	command("budget", "-p", policy, "--plot", picture).wants(t, 0)
	if _, err := png.Decode(bytes.NewReader([]byte(contents(t, picture)))); err != nil {
		t.Error(err)
	}
	// Also of a ledger without charges, and of several datasets.
	command("budget", "-p", deploy(t, concentrated), "--plot", picture).wants(t, 0)
	for file, says := range map[string]string{"out.gif": "ends in .svg or .png", "/no/such/out.png": "there is no such folder"} {
		command("budget", "-p", policy, "--plot", file).wants(t, 2, says)
	}
	if _, err := os.Stat("out.gif"); err == nil {
		t.Error("out.gif was written")
	}
}

// A dataset that was renamed has a second budget, which only the ledger can tell.
func TestBudgetOfARenamedDataset(t *testing.T) {
	policy := deploy(t, tenQuestions)
	asks(policy, people).wants(t, 0)
	command("budget", "-p", policy).wants(t, 0).lacks(t, "does not name")
	change(t, policy, func(s string) string { return strings.Replace(s, "  hospital:", "  clinic:", 1) })
	command("budget", "-p", policy).wants(t, 0, `charges of a dataset "hospital", which the policy does not name`)
}
