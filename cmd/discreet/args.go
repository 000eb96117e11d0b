package main

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/labcmd"
)

// respell takes spellings that people try: help, --version, and a negative number
// behind a flag, which is to be refused as a number and not as a flag. For account
// it puts every --times where it belongs.
func respell(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	}
	var out []string
	for i := 0; i < len(args); i++ {
		if i+1 < len(args) && strings.HasPrefix(args[i], "--") && !strings.Contains(args[i], "=") && isNegative(args[i+1]) {
			out = append(out, args[i]+"="+args[i+1])
			i++
			continue
		}
		out = append(out, args[i])
	}
	if out[0] == "account" {
		out = labcmd.AttachTimes(out)
	}
	return out
}

// grammar returns what kong fills in: the command that is named first and no other, since reading
// the grammar of all takes longer than most commands do, or all where another word comes first and
// where all are to be completed.
func grammar(args []string) any {
	all := reflect.TypeFor[cli]()
	for i := range all.NumField() {
		f := all.Field(i)
		if name := cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)); name == args[0] && name != "completion" {
			return reflect.New(reflect.StructOf([]reflect.StructField{f})).Interface()
		}
	}
	return &cli{}
}

// isNegative reports whether a word begins as a negative number does, which no flag does.
func isNegative(word string) bool {
	rest, ok := strings.CutPrefix(word, "-")
	return ok && rest != "" && (strings.ContainsAny(rest[:1], "0123456789.") || strings.EqualFold(rest, "inf"))
}

// addHelp says where to read how a command is written.
func addHelp(err error) error {
	help := "discreet --help"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if command := parse.Context.Command(); command != "" {
			words := strings.FieldsFunc(command, func(r rune) bool { return r == ' ' })
			words = slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "<[") })
			help = "discreet " + strings.Join(words, " ") + " --help"
		}
	}
	return fmt.Errorf("%w; see %s", err, help)
}

func wantsJSON(args []string) bool {
	for _, a := range args {
		if a == "--json" || a == "--json=true" {
			return true
		}
		if a == "--" {
			return false
		}
	}
	return false
}

// neverCharges reports whether a command is one that nothing is ever charged for: one that is
// tagged charges:"never", or a way of using another that says so itself.
func neverCharges(command *kong.Node) bool {
	if c, ok := command.Target.Addr().Interface().(interface{ NeverCharges() bool }); ok && c.NeverCharges() {
		return true
	}
	for n := command; n != nil; n = n.Parent {
		if n.Tag != nil && n.Tag.Get("charges") == "never" {
			return true
		}
	}
	return false
}
