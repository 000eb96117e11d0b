package policy

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	topKey    = regexp.MustCompile(`(?m)^([a-z_]+):`)
)

// TestDocuments reads every policy that the owner's documents show. One without
// "datasets" is the keys of a dataset, and gets the keys that it does not show.
func TestDocuments(t *testing.T) {
	for file, least := range map[string]int{"../docs/policy.md": 2, "../docs/policy-tables.md": 2, "../docs/owner.md": 1} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		blocks := yamlBlock.FindAllStringSubmatch(string(text), -1)
		if len(blocks) < least {
			t.Errorf("%s has %d examples", file, len(blocks))
		}
		for _, b := range blocks {
			if _, err := Parse("example.yaml", []byte(completed(b[1]))); err != nil {
				t.Errorf("%s shows what cannot be read:\n%s\n%v", file, b[1], err)
			}
		}
	}
}

// completed makes a policy of the keys of a dataset.
func completed(text string) string {
	shown := map[string]bool{}
	for _, m := range topKey.FindAllStringSubmatch(text, -1) {
		shown[m[1]] = true
	}
	if shown["datasets"] {
		return text
	}
	var b strings.Builder
	b.WriteString("datasets:\n  example:\n")
	for _, key := range [][2]string{
		{"engine", "duckdb"}, {"source", "example.duckdb"}, {"unit", "row"}, {"budget", "{epsilon: 1}"}, {"analysts", "{ana: }"},
		{"tables", "{t: {columns: {}}}"},
	} {
		if !shown[key[0]] {
			b.WriteString("    " + key[0] + ": " + key[1] + "\n")
		}
	}
	for line := range strings.Lines(text) {
		b.WriteString("    " + line)
	}
	return b.String()
}

// TestAllKeys: both the specification and the two pages of the reference have every key.
func TestAllKeys(t *testing.T) {
	spec, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, comment, _ := strings.Cut(string(spec), "// # The text") // what follows the example
	var document []byte
	for _, file := range []string{"../docs/policy.md", "../docs/policy-tables.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		document = append(document, text...)
	}
	for _, set := range []keySet{policyKeys, anchorKeys, datasetKeys, budgetKeys, renewalKeys, releaseKeys, failuresKeys, perQueryKeys,
		analystKeys, groupKeys, tableKeys, columnKeys, streamKeys, streamColumnKeys, holdoutKeys, sizesKeys, tableSizesKeys} {
		for _, key := range set.known {
			line := `(?m)^//\t` + key + ` `
			if set.has("default") { // the keys of per_query share its lines
				line = `[ .]` + key + ` is `
			}
			if !regexp.MustCompile(line).MatchString(comment) {
				t.Errorf("the package comment has no key %s", key)
			}
			if !strings.Contains(string(document), "`"+key+"`") {
				t.Errorf("docs/policy.md and docs/policy-tables.md have no key %s", key)
			}
		}
	}
}
