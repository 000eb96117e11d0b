// Package web holds the page that 'discreet serve' has on its HTTP port, and serves it (Handler):
// the same few files to everybody, with or without a name. Nothing in them is about data; the page
// asks for that at /v1, like every other client. There are sources in TypeScript, and what is made
// of them, which is committed, so that 'go build' alone gives everything. The tag nopage leaves it
// out.
//
//	go generate ./internal/server/web   makes dist, of the sources and of what package-lock.json names
//	internal/server/web/check           types, and that dist is what they make, to the last byte
//
// Both need npm; building and testing everything else does not. Licences of what is in the page are
// in dist/licences.txt.
package web

//go:generate npm ci --silent
//go:generate go -C build run .
//go:generate go test -count=1 -run ^TestDist$ -made .

import "io/fs"

// Files returns what is served: index.html, and assets with names that change with what is in them.
func Files() fs.FS {
	sub, err := fs.Sub(files, "dist")
	if err != nil {
		return files // without the page
	}
	return sub
}
