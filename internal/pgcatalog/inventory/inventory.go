package inventory

import (
	_ "embed"
	"strings"
)

//go:embed functions.tsv
var functionsText string

//go:embed operators.tsv
var operatorsText string

// Function is a form of a function of PostgreSQL's. Types are written as in int4 and text[]; those
// of arguments end with = where they may be left out, and begin with ... where the last one may
// come any number of times.
type Function struct {
	Name   string
	Args   []string
	Result string
	Kind   byte // f, a for an aggregate, w for a function of windows, p for a procedure
	// Constant: the result depends on the arguments alone.
	Constant bool
	Strict   bool // NULL where an argument is
	Set      bool
	Versions string // 15-18, or 15 for what 18 has not, or 18 for what 15 has not
}

// Operator is an operator of PostgreSQL's. One with a right side alone has no Left.
type Operator struct {
	Name, Left, Right, Result string
	Function                  string // that does it
	Versions                  string
}

// Functions and Operators are all that there are, in the order of their names.
var (
	Functions = readFunctions()
	Operators = readOperators()
)

// by finds things by a name that each has.
func by[T any](all []T, name func(*T) string) map[string][]*T {
	m := map[string][]*T{}
	for i := range all {
		m[name(&all[i])] = append(m[name(&all[i])], &all[i])
	}
	return m
}

var (
	named   = by(Functions, func(f *Function) string { return f.Name })
	symbols = by(Operators, func(o *Operator) string { return o.Name })
	behind  = by(Operators, func(o *Operator) string { return o.Function }) // the functions that do them
)

// Named are the forms of a function.
func Named(name string) []*Function { return named[name] }

// Symbol are the operators of a name.
func Symbol(name string) []*Operator { return symbols[name] }

// Operator is the operator that a form of a function does, or nil.
func (f *Function) Operator() *Operator {
	for _, o := range behind[f.Name] {
		if len(f.Args) == 2 && f.Args[0] == o.Left && f.Args[1] == o.Right || len(f.Args) == 1 && o.Left == "" && f.Args[0] == o.Right {
			return o
		}
	}
	return nil
}

// Signature is a form as it is called: int4 and text in lpad(text, int4, text).
func (f *Function) Signature() string { return f.Name + "(" + strings.Join(f.Args, ", ") + ")" }

// Type is the type of an argument without what else is said of it.
func Type(arg string) string { return strings.TrimPrefix(strings.TrimSuffix(arg, "="), "...") }

func records(text string) (out [][]string) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		out = append(out, strings.Split(line, "\t"))
	}
	return out
}

func readFunctions() (out []Function) {
	for _, r := range records(functionsText) {
		f := Function{Name: r[0], Result: r[2], Kind: r[3][0], Constant: r[3][1] == 'i', Strict: strings.Contains(r[3], "!"),
			Set: strings.Contains(r[3], "*"), Versions: r[4]}
		if r[1] != "" {
			f.Args = strings.Split(r[1], ",")
		}
		out = append(out, f)
	}
	return out
}

func readOperators() (out []Operator) {
	for _, r := range records(operatorsText) {
		out = append(out, Operator{Name: r[0], Left: r[1], Right: r[2], Result: r[3], Function: r[4], Versions: r[5]})
	}
	return out
}
