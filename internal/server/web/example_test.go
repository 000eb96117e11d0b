//go:build !nopage

package web_test

import (
	"bytes"
	"fmt"
	"io/fs"

	"github.com/discreet-dp/discreet/internal/server/web"
)

func ExampleFiles() {
	index, err := fs.ReadFile(web.Files(), "index.html")
	fmt.Println(bytes.Contains(index, []byte("<script type=\"module\" src=\"/assets/")), err)
	// Output: true <nil>
}
