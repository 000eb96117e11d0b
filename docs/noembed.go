//go:build nodocs

// Package docs is the pages of this folder, as the server shows them. They are not in this binary:
// it was built with the tag nodocs.
package docs

import "embed"

var Files embed.FS
