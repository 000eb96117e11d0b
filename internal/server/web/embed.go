//go:build !nopage

package web

import "embed"

//go:embed all:dist
var files embed.FS

// Built says that the page is in this binary.
const Built = true
