//go:build nopage

package web

import "embed"

var files embed.FS

// Built says that the page is not in this binary: it was built with the tag nopage.
const Built = false
