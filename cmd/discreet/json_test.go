package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/golden"
	"github.com/discreet-dp/discreet/internal/hospital"
)

// TestJSON holds what machines read against testdata/json. A case is a command in one line, with
// the members of its output that have noise after a #, and further arguments, one in a line. POLICY
// stands for the path of a copy of testdata/json/policy.yaml, and FOLDER for where it is.
func TestJSON(t *testing.T) {
	files, err := filepath.Glob("testdata/json/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			policy := filepath.Join(t.TempDir(), "policy.yaml")
			write(t, policy, contents(t, "testdata/json/policy.yaml"))
			for i, folder := range []string{"data", "other"} {
				if err := hospital.New(300, uint64(i+1)).Write(beside(policy, folder)); err != nil {
					t.Fatal(err)
				}
			}
			labels, predictions := "label\n", "prediction\n"
			for i := range 400 {
				labels += fmt.Sprintln(i % 3 / 2)
				predictions += fmt.Sprintln(i % 2)
			}
			write(t, beside(policy, "labels.csv"), labels)
			write(t, beside(policy, "predictions.csv"), predictions)
			golden.Run(t, file, func(question string) string {
				lines := strings.Split(strings.NewReplacer("POLICY", policy, "FOLDER", beside(policy)).Replace(question), "\n")
				line, noisy, _ := strings.Cut(lines[0], " # ")
				r := command(append(strings.Fields(line), lines[1:]...)...)
				out := strings.NewReplacer(policy, "POLICY", beside(policy), "FOLDER").Replace(r.out + r.err)
				return fmt.Sprintf("exit %d\n%s", r.code, golden.Mask(out, strings.Fields(noisy)...))
			})
		})
	}
}
