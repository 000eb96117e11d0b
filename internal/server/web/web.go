// Package web holds the page that 'discreet serve' has on its HTTP port, and serves it (Handler):
// the same few files to everybody, with or without a name. Nothing in them is about data; the page
// asks for that at /v1, like every other client. There are sources in TypeScript, and what is made
// of them, which is committed, so that 'go build' alone gives everything. The tag nopage leaves it
// out.
//
//	go generate ./internal/server/web        makes dist of the sources; esbuild is a Go program, so no Node is needed
//	internal/server/web/refresh              brings the packages of packages.json into node_modules; this needs npm
//
// node_modules has only the files that the page is made of, with their licences, which are also in
// dist/licences.txt.
package web

//go:generate go -C build run .

import "io/fs"

// Files returns what is served: index.html, and assets with names that change with what is in them.
func Files() fs.FS {
	sub, err := fs.Sub(files, "dist")
	if err != nil {
		return files // without the page
	}
	return sub
}
