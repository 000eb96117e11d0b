// Command measure prints how a tree of Go source is built: what the architecture test holds, and
// sizes to compare two trees by.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/architecture"
	"github.com/discreet-dp/discreet/internal/render"
)

const usage = `Usage: go run ./internal/architecture/measure [--json] [--list] [DIR]

Prints for the module in DIR (default: the one you are in): lines and files of every package, tests
apart; public packages and exported names; packages that one other imports; receivers with too many
methods; functions and lines that are too long; init functions; packages with one name; structs and aliases that mirror those of another package.

  --json   everything, with the places, as JSON
  --list   the places too, one on a line

Example: what has changed since a release?

  git worktree add /tmp/before v0.9.0
  go run ./internal/architecture/measure /tmp/before
  go run ./internal/architecture/measure .
`

type report struct {
	Total    totals                  `json:"total"`
	Packages []*architecture.Package `json:"packages"`
	Shared   map[string][]string     `json:"shared_names"`
	Mirrored map[string][]string     `json:"mirrored_types"`
}

type totals struct {
	Packages     int `json:"packages"`
	Public       int `json:"public_packages"`
	Exported     int `json:"exported_names_of_public_packages"`
	Files        int `json:"files"`
	Lines        int `json:"lines"`
	TestFiles    int `json:"test_files"`
	TestLines    int `json:"test_lines"`
	All          int `json:"all_lines"`
	Tokens       int `json:"tokens"`
	Long         int `json:"long_functions"`
	LongTests    int `json:"long_functions_of_tests"`
	WideCode     int `json:"wide_code_lines"`
	WideComments int `json:"wide_comment_lines"`
	Inits        int `json:"init_functions"`
	Shared       int `json:"shared_package_names"`
	Mirrored     int `json:"mirrored_types"`
	Aliases      int `json:"aliases"`
	OneImporter  int `json:"packages_with_one_importer"`
	Median       int `json:"median_lines_of_a_file"`
	Headers      int `json:"header_lines"`
	Large        int `json:"receivers_over_30_methods"`
}

func main() {
	asJSON := flag.Bool("json", false, "")
	list := flag.Bool("list", false, "")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage) }
	flag.Parse()
	dir := "."
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	all, err := architecture.Read(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
	r := report{Packages: all, Shared: architecture.Shared(all), Mirrored: architecture.Mirrored(all)}
	r.Total = sum(r)
	switch {
	case *asJSON:
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		err = out.Encode(r)
	default:
		r.write(os.Stdout, *list)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func sum(r report) totals {
	t := totals{Packages: len(r.Packages), Shared: len(r.Shared), Mirrored: len(r.Mirrored)}
	for _, p := range r.Packages {
		if p.Public {
			t.Public++
			t.Exported += p.Exported
		}
		t.Files += p.Files
		t.Lines += p.Lines
		t.TestFiles += p.TestFiles
		t.TestLines += p.TestLines
		t.Tokens += p.Tokens
		for _, l := range p.Long {
			if l.Test {
				t.LongTests++
			} else {
				t.Long++
			}
		}
		t.WideCode += len(p.WideCode)
		t.WideComments += len(p.WideComments)
		t.Inits += len(p.Inits)
		t.Aliases += len(p.Aliases)
	}
	t.All = t.Lines + t.TestLines
	t.OneImporter = architecture.OneImporter(r.Packages)
	var sizes []int
	for _, p := range r.Packages {
		sizes = append(sizes, p.Sizes...)
		t.Headers += p.Headers
		for _, x := range p.Receivers {
			if x.Methods > architecture.ReceiverMethods {
				t.Large++
			}
		}
	}
	if slices.Sort(sizes); len(sizes) > 0 {
		t.Median = sizes[len(sizes)/2]
	}
	return t
}

func (r report) write(w io.Writer, list bool) {
	t := render.Table{
		Header: []string{
			"package", "public", "files", "lines", "test files", "test lines", "exported",
			"long functions", "wide code", "wide comments",
		},
		Right: []bool{false, false, true, true, true, true, true, true, true, true},
	}
	for _, p := range r.Packages {
		public := ""
		if p.Public {
			public = "yes"
		}
		row := []string{p.Path, public}
		for _, n := range []int{
			p.Files, p.Lines, p.TestFiles, p.TestLines, p.Exported, len(p.Long), len(p.WideCode), len(p.WideComments),
		} {
			row = append(row, strconv.Itoa(n))
		}
		t.Add(row...)
	}
	t.Write(w)
	fmt.Fprintln(w)
	r.summary(w)
	if list {
		for _, p := range r.Packages {
			for _, places := range [][]architecture.Place{p.Long, p.WideCode, p.WideComments, p.Inits, p.Aliases} {
				for _, at := range places {
					fmt.Fprintln(w, at)
				}
			}
		}
	}
}

func (r report) summary(w io.Writer) {
	t := render.Table{Header: []string{"in all", "", ""}, Right: []bool{false, true}}
	add := func(what string, n int, which string) { t.Add(what, strconv.Itoa(n), which) }
	add("packages", r.Total.Packages, "")
	add("packages that one other imports", r.Total.OneImporter, "")
	add("public packages", r.Total.Public, "")
	add("exported names of public packages", r.Total.Exported, "")
	add("lines", r.Total.Lines, fmt.Sprintf("in %d files", r.Total.Files))
	add("median lines of a file", r.Total.Median, "without tests")
	share := 100 * float64(r.Total.Headers) / float64(max(r.Total.All, 1))
	add("lines of package clauses and imports", r.Total.Headers, fmt.Sprintf("%.1f %%, with tests", share))
	add(fmt.Sprintf("receivers over %d methods", architecture.ReceiverMethods), r.Total.Large, r.largest())
	add("lines of tests", r.Total.TestLines, fmt.Sprintf("in %d files", r.Total.TestFiles))
	add("lines in total", r.Total.All, "")
	add("tokens", r.Total.Tokens, "which breaking a line does not change")
	add(fmt.Sprintf("functions over %d lines", architecture.FunctionLines), r.Total.Long, "")
	add(fmt.Sprintf("functions of tests over %d lines", architecture.TestedFunction), r.Total.LongTests, "")
	add(fmt.Sprintf("code lines over %d columns", architecture.CodeWidth), r.Total.WideCode, "")
	add(fmt.Sprintf("comment lines over %d columns", architecture.CommentWidth), r.Total.WideComments, "")
	add("init functions", r.Total.Inits, "")
	add("names that several packages have", r.Total.Shared, "")
	add("mirrored structs", r.Total.Mirrored, "")
	add("aliases of other packages' types", r.Total.Aliases, "")
	t.Write(w)
	shared(w, "Packages with one name", r.Shared)
	shared(w, "Mirrored structs", r.Mirrored)
}

// largest names the receivers with the most methods.
func (r report) largest() string {
	type one struct {
		name    string
		methods int
		files   int
	}
	var all []one
	for _, p := range r.Packages {
		for name, x := range p.Receivers {
			all = append(all, one{p.Name + "." + name, x.Methods, len(x.Files)})
		}
	}
	slices.SortFunc(all, func(a, b one) int {
		return cmp.Or(cmp.Compare(b.methods, a.methods), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, x := range all[:min(3, len(all))] {
		out = append(out, fmt.Sprintf("%s %d in %d files", x.name, x.methods, x.files))
	}
	return strings.Join(out, ", ")
}

func shared(w io.Writer, title string, m map[string][]string) {
	if len(m) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := render.Table{Header: []string{title, "in"}}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		t.Add(name, strings.Join(m[name], ", "))
	}
	t.Write(w)
}
