package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	script := write(t, filepath.Join(t.TempDir(), "discreet.bash"), command("completion", "bash").wants(t, 0).out)
	for line, want := range map[string]string{
		"": "demo init check rehearse prepare query explain profile ask budget incidents ledger account stream train predict " +
			"survey holdout audit serve reload mcp attach user completion version --help",
		"ser":                         "serve",
		"serve --tls":                 "--tls-cert --tls-key",
		"serve --log-format ":         "text json",
		"serve --log-level w":         "warn",
		"serve --demo --log-format t": "text",
		"serve --policy ":             "", // a file
		"serve -p ":                   "",
		"user ":                       "add copy list password revoke token tokens revoke-token logins --help",
		"user revoke":                 "revoke revoke-token",
		"user add --pol":              "--policy",
		"ledger v":                    "verify",
		"completion ":                 "bash zsh fish --help",
		"demo --d":                    "--dir", // of the story, which is told where nothing else is said
		"demo shop --s":               "--scale --seed",
		"stream ": "rehearse ask list report synthetic --help --policy --dataset --stream --json " +
			"--workload --limit --plot --ascii",
		"stream ask --ex":                "--explain",
		"stream --work":                  "--workload", // of a rehearsal, which is the default
		"query --policy serve --l":       "",
		"query 'x y' --epsilon 3 --data": "--dataset",
	} {
		words := append([]string{"discreet"}, strings.Split(line, " ")...)
		test := fmt.Sprintf("source %s; COMP_WORDS=(%s); COMP_CWORD=%d; _discreet; echo \"${COMPREPLY[@]}\"; complete -p discreet >&2",
			console.ShellQuote(script), strings.Join(words[:len(words)-1], " ")+" "+console.ShellQuote(words[len(words)-1]), len(words)-1)
		if strings.Contains(line, "'x y'") {
			test = strings.Replace(test, fmt.Sprintf("COMP_CWORD=%d", len(words)-1), fmt.Sprintf("COMP_CWORD=%d", len(words)-2), 1)
		}
		out, err := exec.Command(bash, "--norc", "--noprofile", "-uc", test).CombinedOutput()
		got, rest, _ := strings.Cut(string(out), "\n")
		if err != nil || !strings.Contains(rest, "-F _discreet discreet") {
			t.Fatalf("%q: %v\n%s", line, err, out)
		}
		gotWords, wantWords := strings.Fields(got), strings.Fields(want)
		slices.Sort(gotWords)
		slices.Sort(wantWords)
		if !slices.Equal(gotWords, wantWords) {
			t.Errorf("%q is completed by %v; want %v", line, gotWords, wantWords)
		}
	}
}

// The other shells can read their scripts, where they are at hand.
func TestCompletionIsRead(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]string{"bash": "-n", "zsh": "-n", "fish": "--no-execute"} {
		script := command("completion", name).wants(t, 0, "serve", "log-format").out
		if strings.Contains(script, "\t") {
			t.Errorf("the script for %s has a tabulator", name)
		}
		path, err := exec.LookPath(name)
		if err != nil {
			path = os.Getenv("DISCREET_TEST_" + strings.ToUpper(name))
		}
		if path == "" {
			t.Logf("there is no %s", name)
			continue
		}
		if out, err := exec.Command(path, check, write(t, filepath.Join(t.TempDir(), "script"), script)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	command("completion", "csh").wants(t, 2, "bash")
}
