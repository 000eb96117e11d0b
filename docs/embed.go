//go:build !nodocs

// Package docs is the pages of this folder, as the server shows them.
package docs

import "embed"

// Files are the pages and their pictures.
//
//go:embed *.md img/*.svg img/page/ask-chart-desktop.png img/page/owner-desktop.png
var Files embed.FS
