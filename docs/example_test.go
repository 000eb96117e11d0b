package docs_test

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/docs"
)

func Example() {
	text, err := docs.Files.ReadFile("index.md")
	if err != nil {
		fmt.Println("this binary has no pages:", err)
		return
	}
	title, _, _ := strings.Cut(string(text), "\n")
	fmt.Println(title)
	// Output: # Discreet
}
