package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLanguageByExample asks every question of docs/sql.md of a small shop. What the page shows as
// an answer is answered, and what it shows as a refusal is refused in the same words.
func TestLanguageByExample(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "sql.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	command("demo", "shop", filepath.Join(dir, "shop"), "--scale", "0.001").wants(t, 0)
	policy := filepath.Join(dir, "shop", "shop.yaml")
	answered, refused := 0, 0
	for _, block := range strings.Split(string(text), "```sql\n")[1:] {
		sql, rest, _ := strings.Cut(block, "```\n")
		shown, _, _ := strings.Cut(strings.TrimPrefix(rest, "```\n"), "```")
		verb := "query"
		if strings.Contains(shown, "split: ") {
			verb = "explain"
		}
		if first, _, _ := strings.Cut(shown, "\n"); strings.HasPrefix(first, "refused: ") {
			command(verb, "-p", policy, "--as", "ana", sql).wants(t, 2, first)
			refused++
			continue
		}
		command(verb, "-p", policy, "--as", "ana", sql).wants(t, 0, "price: ")
		answered++
	}
	if answered < 15 || refused < 3 {
		t.Errorf("%d were answered and %d refused", answered, refused)
	}
}
