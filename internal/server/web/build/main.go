// Command build makes web/dist of web/src: scripts and styles with names that change with what is
// in them, index.html that names them, and the licences of all that is in them. It is run by
//
//	go generate ./internal/server/web
//
// after npm ci. With -out FOLDER it makes it there, for the test that dist is what the sources say.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// What the page may be, in bytes as they are sent.
const (
	mostWithoutEditor = 300_000
	mostInAll         = 1_000_000
)

func main() {
	log.SetFlags(0)
	out := flag.String("out", "dist", "make the page in this folder")
	flag.Parse()
	if err := os.Chdir(".."); err != nil {
		log.Fatal(err)
	}
	result, meta, err := bundle()
	if err != nil {
		log.Fatal(err)
	}
	if err := write(*out, result, meta); err != nil {
		log.Fatal(err)
	}
}

// metafile is what is needed of esbuild's account.
type metafile struct {
	Inputs  map[string]struct{}
	Outputs map[string]struct {
		EntryPoint string
		CSSBundle  string
		Inputs     map[string]struct{}
	}
}

// packages are the files that came from others.
func (m *metafile) packages() []string {
	var out []string
	for name := range m.Inputs {
		if strings.HasPrefix(name, "node_modules/") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func bundle() (api.BuildResult, *metafile, error) {
	result := api.Build(api.BuildOptions{
		EntryPoints:       []string{"src/main.tsx"},
		Bundle:            true,
		Splitting:         true,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		Outdir:            "dist/assets",
		EntryNames:        "[name]-[hash]",
		ChunkNames:        "[name]-[hash]",
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		LegalComments:     api.LegalCommentsNone,
		Metafile:          true,
		LogLevel:          api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return result, nil, fmt.Errorf("%d errors", len(result.Errors))
	}
	var m metafile
	return result, &m, json.Unmarshal([]byte(result.Metafile), &m)
}

const index = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Discreet</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/STYLE">
<script type="module" src="/assets/SCRIPT"></script>
</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript. psql and programs do not: see the documentation.</noscript>
</body>
</html>
`

// write writes everything anew, so that nothing is left of what was there.
func write(dist string, result api.BuildResult, meta *metafile) error {
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dist, "assets"), 0o755); err != nil {
		return err
	}
	var script, style string
	total, editor := 0, 0
	for _, f := range result.OutputFiles {
		name := filepath.Base(f.Path)
		if err := os.WriteFile(filepath.Join(dist, "assets", name), f.Contents, 0o644); err != nil {
			return err
		}
		out := meta.Outputs["dist/assets/"+name]
		if out.EntryPoint == "src/main.tsx" {
			script, style = name, filepath.Base(out.CSSBundle)
		}
		size, err := packed(f.Contents)
		if err != nil {
			return err
		}
		total += size
		for input := range out.Inputs {
			if strings.Contains(input, "/@codemirror/") {
				editor += size
				break
			}
		}
		fmt.Printf("%8d %s\n", size, name)
	}
	fmt.Printf("%8d in all, %d without the editor\n", total, total-editor)
	if total > mostInAll || total-editor > mostWithoutEditor {
		return fmt.Errorf("that is too much: the limits are %d in all, and %d without the editor", mostInAll, mostWithoutEditor)
	}
	icon, err := os.ReadFile("src/icon.svg")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dist, "icon.svg"), icon, 0o644); err != nil {
		return err
	}
	licences, err := licences(meta)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dist, "licences.txt"), licences, 0o644); err != nil {
		return err
	}
	page := strings.NewReplacer("STYLE", style, "SCRIPT", script).Replace(index)
	return os.WriteFile(filepath.Join(dist, "index.html"), []byte(page), 0o644)
}

func packed(data []byte) (int, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(data); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return b.Len(), nil
}

// licences are those of all packages of which something is in the page.
func licences(meta *metafile) ([]byte, error) {
	folders := map[string]bool{}
	for _, name := range meta.packages() {
		parts := strings.Split(name, "/")
		n := 2
		if strings.HasPrefix(parts[1], "@") {
			n = 3
		}
		folders[strings.Join(parts[:n], "/")] = true
	}
	var names []string
	for f := range folders {
		names = append(names, f)
	}
	slices.Sort(names)
	var b bytes.Buffer
	fmt.Fprintln(&b, "The page of Discreet has parts of these packages in it.")
	for _, f := range names {
		var about struct{ Name, Version, License string }
		text, err := os.ReadFile(filepath.Join(f, "package.json"))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &about); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		licence, err := os.ReadFile(filepath.Join(f, "LICENSE"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "\n%s\n%s %s, "+
			"%s\n\n%s\n", strings.Repeat("-", 72), about.Name, about.Version, about.License, bytes.TrimSpace(licence))
	}
	return b.Bytes(), nil
}
