package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// retired are words that meant several things, or nothing to a newcomer, with what
// stands in their place. They come back in no name and no comment of Go, and on no page. Texts that
// programs read, such as the key "door" of a login, are strings and stay.
var retired = map[string]string{
	"door": "listener, handler or lockout", "doors": "listeners, handlers or lockouts", "storey": "layer", "storeys": "layers",
	"palm": "maxFewGroups", "lensful": "decoder", "penful": "encoder",
	"hatch": "owner's socket",
}

// retiredNames are package-scope names that say nothing.
var retiredNames = strings.Fields("which enough still another spread heavy cutting together several")

// retiredPackages are names that packages had.
var retiredPackages = regexp.MustCompile(`(?i)\bpackages? (plan|dialect|books|memory|bound|outer|exact|pace|home|desk|hatch|anywhere|scratch|` +
	`fiction|interactive|privatedoor|recent|madeup|attack|pgplace|trinoplace|pgdraft|trinodraft|spelling|csvlines|bytelimit|connlimit|` +
	`clientaddr|testcpu|forecast|checkpoint|lossfn|calibrate)\b|` +
	`\b(internal/(plan|dialect|books|memory|bound|exact|pace|home|fiction|interactive|recent|stream|learn|holdout|audit)|engine/outer|` +
	`ledger/(desk|hatch|anywhere|scratch|checkpoint)|server/(catalog|page|connlimit|bytelimit|clientaddr))\b`)

// words returns the words of a name in camel case, or of a text.
func words(text string) []string {
	var out []string
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		start := 0
		for i, r := range run {
			if i > start && unicode.IsUpper(r) {
				out, start = append(out, strings.ToLower(run[start:i])), i
			}
		}
		out = append(out, strings.ToLower(run[start:]))
	}
	return out
}

// retiredIn returns what a text says that was retired.
func retiredIn(text string) []string {
	var out []string
	for _, w := range words(text) {
		if instead, ok := retired[w]; ok {
			out = append(out, w+": say "+instead)
		}
	}
	// A name, or a comment that has nothing of what each alternative of the expression begins with.
	if said := strings.TrimLeft(text, "/"); !strings.Contains(said, "/") && !strings.Contains(strings.ToLower(said), "package") {
		return out
	}
	for _, m := range retiredPackages.FindAllString(text, -1) {
		out = append(out, m+": it has another name")
	}
	return out
}

// fineNames are names that were looked at, in whatever file.
var fineNames = map[string]bool{}

// retiredInGo looks at the names that a file declares, and at its comments.
func retiredInGo(name string, src any) ([]string, error) {
	var out []string
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	say := func(p token.Pos, found []string) {
		for _, f := range found {
			out = append(out, set.Position(p).String()+": "+f)
		}
	}
	for _, g := range file.Comments {
		for _, c := range g.List {
			say(c.Pos(), retiredIn(c.Text))
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		// A field of the owner's socket keeps its name: earlier versions read it in messages.
		if id, ok := n.(*ast.Ident); ok && !fineNames[id.Name] && !(id.Name == "Door" && file.Name.Name == "ownersocket") {
			found := retiredIn(id.Name)
			fineNames[id.Name] = len(found) == 0
			say(id.Pos(), found)
		}
		return true
	})
	for _, id := range declared(file) {
		if slices.Contains(retiredNames, id.Name) {
			say(id.Pos(), []string{id.Name + ": say what it is"})
		}
	}
	return out, nil
}

// declared returns the names at package scope, without methods.
func declared(file *ast.File) []*ast.Ident {
	var out []*ast.Ident
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				out = append(out, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					out = append(out, spec.Names...)
				case *ast.TypeSpec:
					out = append(out, spec.Name)
				}
			}
		}
	}
	return out
}

func TestRetiredWords(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "node_modules", "testdata", "dist"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		var found []string
		switch {
		case d.Name() == "SECURITY.md" || d.Name() == "words_test.go":
			return nil // what was, in the words of then
		case strings.HasSuffix(path, ".go"):
			found, err = retiredInGo(path, nil)
		case strings.HasSuffix(path, ".md"):
			var text []byte
			text, err = os.ReadFile(path)
			for _, f := range retiredIn(strings.NewReplacer("door `", "", ".hatch`", "").Replace(string(text))) {
				found = append(found, path+": "+f)
			}
		default:
			return nil
		}
		files++
		for _, f := range found {
			t.Error(f)
		}
		return err
	})
	if err != nil || files < 500 {
		t.Errorf("%d files were read: %v", files, err)
	}
	for _, planted := range []string{
		"package p\n\n// The door is open.\nvar x int", "package p\n\nfunc closeDoor() {}", "package p\n\nvar which int",
		"package p\n\n// See package books.\nvar x int", "package p\n\n// See internal/plan.\nvar x int",
	} {
		if found, err := retiredInGo("p.go", planted); err != nil || len(found) != 1 {
			t.Errorf("not seen in %q: %v, %v", planted, found, err)
		}
	}
	for _, fine := range []string{"package p\n\n// An outdoor tree of a plan.\nvar penalty = \"door\""} {
		if found, err := retiredInGo("p.go", fine); err != nil || len(found) != 0 {
			t.Errorf("seen in %q: %v, %v", fine, found, err)
		}
	}
}
