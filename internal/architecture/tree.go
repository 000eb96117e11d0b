package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// What the project wants of its source. Functions of tests are tables as often as they are steps,
// and have a limit of their own.
const (
	CommentWidth   = 100
	CodeWidth      = 140
	FunctionLines  = 100
	TestedFunction = 200
	// ReceiverMethods is how many methods a type may have.
	ReceiverMethods = 30
	tab             = 4
)

// Place is a line of a file, with what is there.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	What string `json:"what"`
	Size int    `json:"size,omitempty"`
	Test bool   `json:"test,omitempty"`
}

func (p Place) String() string { return fmt.Sprintf("%s:%d: %s (%d)", p.File, p.Line, p.What, p.Size) }

// Package is one directory with Go files, its tests included.
type Package struct {
	Path         string  `json:"path"` // below the tree's root, which is "."
	Name         string  `json:"name"`
	Public       bool    `json:"public"` // others can import it
	Files        int     `json:"files"`
	Lines        int     `json:"lines"`
	TestFiles    int     `json:"test_files"`
	TestLines    int     `json:"test_lines"`
	Tokens       int     `json:"tokens"`   // of code, tests included
	Exported     int     `json:"exported"` // names, and methods of types with exported names
	Long         []Place `json:"long_functions,omitempty"`
	WideCode     []Place `json:"wide_code,omitempty"`
	WideComments []Place `json:"wide_comments,omitempty"`
	Inits        []Place `json:"inits,omitempty"`
	Aliases      []Place `json:"aliases,omitempty"` // type X = other.X

	Sizes     []int               `json:"file_lines"`   // of each file, without tests
	Headers   int                 `json:"header_lines"` // of package clauses and imports, with tests
	Receivers map[string]Receiver `json:"receivers"`    // by the name of the type, without tests
	Imports   []string            `json:"imports"`      // packages of the module, without tests

	structs map[string][]string // fields by name
}

// Receiver is a type with methods.
type Receiver struct {
	Methods int      `json:"methods"`
	Files   []string `json:"files"`
}

// Read measures the packages of the module at dir: all directories but those of other modules, of
// tests' data, and those that the go command ignores.
func Read(dir string) ([]*Package, error) {
	all := map[string]*Package{}
	module := moduleOf(dir)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(dir, path)
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return add(all, module, filepath.ToSlash(name), text)
	})
	if err != nil {
		return nil, err
	}
	out := make([]*Package, 0, len(all))
	for _, p := range all {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *Package) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func enter(root, path string) error {
	name := filepath.Base(path)
	if path == root {
		return nil
	}
	if name[0] == '.' || name[0] == '_' || name == "testdata" || name == "vendor" {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

// moduleOf returns the path of the module at dir, or nothing where there is none.
func moduleOf(dir string) string {
	text, _ := os.ReadFile(filepath.Join(dir, "go.mod"))
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(line, "module ")
}

func add(all map[string]*Package, module, name string, text []byte) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	path := filepath.ToSlash(filepath.Dir(name))
	p := all[path]
	if p == nil {
		p = &Package{Path: path, Receivers: map[string]Receiver{}, structs: map[string][]string{}}
		all[path] = p
	}
	source{module: module, files: files, file: file, name: name, text: text, test: strings.HasSuffix(name, "_test.go"), into: p}.measure()
	return nil
}

// source is one file.
type source struct {
	module string
	files  *token.FileSet
	file   *ast.File
	name   string
	text   []byte
	test   bool
	into   *Package
}

func (s source) measure() {
	lines := strings.Count(string(s.text), "\n")
	if s.test {
		s.into.TestFiles++
		s.into.TestLines += lines
	} else {
		s.into.Files++
		s.into.Lines += lines
		s.into.Sizes = append(s.into.Sizes, lines)
		s.into.Name = s.file.Name.Name
		hidden := slices.Contains(strings.Split(s.into.Path, "/"), "internal")
		s.into.Public = !hidden && s.into.Name != "main"
	}
	s.into.Tokens += tokens(s.text)
	s.header()
	s.widths()
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			s.function(d)
		case *ast.GenDecl:
			s.general(d)
		}
	}
}

// header counts the lines of the package clause and of imports.
func (s source) header() {
	s.into.Headers++
	for _, d := range s.file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			s.into.Headers += s.line(g.End()) - s.line(g.Pos()) + 1
		}
	}
	if s.test {
		return
	}
	for _, i := range s.file.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil || path != s.module && !strings.HasPrefix(path, s.module+"/") {
			continue
		}
		path = strings.TrimPrefix(strings.TrimPrefix(path, s.module), "/")
		if path == "" {
			path = "."
		}
		if !slices.Contains(s.into.Imports, path) {
			s.into.Imports = append(s.into.Imports, path)
		}
	}
}

// tokens counts what is left of a file when comments and the ends of lines are taken away.
func tokens(text []byte) int {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(text)), text, nil, 0)
	for n := 0; ; {
		switch _, kind, literal := s.Scan(); {
		case kind == token.EOF:
			return n
		case kind == token.SEMICOLON && literal == "\n", kind == token.COMMA: // a broken list has one more
		default:
			n++
		}
	}
}

func (s source) line(p token.Pos) int { return s.files.Position(p).Line }

func (s source) place(p token.Pos, what string, size int) Place {
	return Place{File: s.name, Line: s.line(p), What: what, Size: size, Test: s.test}
}

func (s source) function(d *ast.FuncDecl) {
	limit := FunctionLines
	if s.test {
		limit = TestedFunction
	}
	if n := s.line(d.End()) - s.line(d.Pos()) + 1; n > limit {
		s.into.Long = append(s.into.Long, s.place(d.Pos(), d.Name.Name, n))
	}
	if s.test {
		return
	}
	if d.Recv != nil {
		name := receiver(d.Recv.List[0].Type)
		r := s.into.Receivers[name]
		r.Methods++
		if !slices.Contains(r.Files, s.name) {
			r.Files = append(r.Files, s.name)
		}
		s.into.Receivers[name] = r
	}
	if d.Recv == nil && d.Name.Name == "init" {
		s.into.Inits = append(s.into.Inits, s.place(d.Pos(), "init", s.line(d.End())-s.line(d.Pos())+1))
	}
	if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
		s.into.Exported++
	}
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func (s source) general(d *ast.GenDecl) {
	if s.test {
		return
	}
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for _, n := range spec.Names {
				if n.IsExported() {
					s.into.Exported++
				}
			}
		case *ast.TypeSpec:
			s.named(spec)
		}
	}
}

func (s source) named(spec *ast.TypeSpec) {
	if spec.Name.IsExported() {
		s.into.Exported++
	}
	switch t := spec.Type.(type) {
	case *ast.SelectorExpr:
		if spec.Assign.IsValid() {
			s.into.Aliases = append(s.into.Aliases, s.place(spec.Pos(), spec.Name.Name, 0))
		}
	case *ast.StructType:
		var fields []string
		for _, f := range t.Fields.List {
			for _, n := range f.Names {
				fields = append(fields, strings.ToLower(n.Name))
			}
		}
		s.into.structs[spec.Name.Name] = fields
	}
}
