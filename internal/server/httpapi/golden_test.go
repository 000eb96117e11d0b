package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/golden"
	"github.com/discreet-dp/discreet/internal/hospital"
)

// TestJSON holds replies against testdata/json. A case is a user, a method and a path, with the
// members of the reply that have noise after a #, and the body in the lines below. SESSION stands
// for the session that was opened last, SAVED for the question that was saved last.
func TestJSON(t *testing.T) {
	policy, err := os.ReadFile("testdata/json/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/json/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			dir := t.TempDir()
			labels, predictions := "label\n", "[0"
			for i := range 400 {
				labels += fmt.Sprintln(i % 3 / 2)
				predictions += fmt.Sprint(",", i%2)
			}
			predictions = predictions[:len(predictions)-2] + "]"
			if err := os.WriteFile(filepath.Join(dir, "labels.csv"), []byte(labels), 0o600); err != nil {
				t.Fatal(err)
			}
			furnish(t, dir, hospital.New(people, 1), string(policy))
			w := newWorldIn(t, dir)
			session, saved, ids := "", "", []string{}
			golden.Run(t, file, func(question string) string {
				line, body, _ := strings.Cut(question, "\n")
				line, noisy, _ := strings.Cut(line, " # ")
				words := strings.Fields(strings.ReplaceAll(line, "SESSION", session))
				got := w.call(words[1], words[2], words[0], strings.NewReplacer("PREDICTIONS", predictions, "SAVED", saved).Replace(body))
				if id, ok := got.get("id").(string); ok && strings.HasSuffix(line, "/v1/sessions") {
					session = id
				}
				if id, ok := got.get("id").(string); ok && len(id) == 32 {
					if ids = append(ids, id, "ID"); strings.HasSuffix(line, "/v1/saved") {
						saved = id
					}
				}
				text := strings.NewReplacer(ids...).Replace(got.body)
				if words[2] == "/openapi.json" {
					text = outline(t, text)
				}
				return fmt.Sprintf("%d %s\n%s", got.status, got.header.Get("Content-Type"), golden.Mask(text, strings.Fields(noisy)...))
			})
		})
	}
}

// references are those of a document to its schemas.
var references = regexp.MustCompile(`"#/components/schemas/(\w+)"`)

// outline writes the document in short: the schemas that each operation names, and each schema.
func outline(t *testing.T, text string) string {
	var document struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(document.Paths[path])) {
			var named []string
			for _, name := range references.FindAllSubmatch(document.Paths[path][method], -1) {
				named = append(named, string(name[1]))
			}
			fmt.Fprintln(&out, method, path, slices.Compact(named))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(document.Components.Schemas)) {
		fmt.Fprintf(&out, "%s %s\n", name, document.Components.Schemas[name])
	}
	return out.String()
}
