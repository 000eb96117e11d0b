package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

type completionCmd struct {
	Shell string `arg:"" help:"bash, zsh or fish." enum:"bash,zsh,fish"`
}

func (completionCmd) Help() string {
	return `Prints a script that lets the shell complete commands, flags and their values. It is generated from this
version of the command, and never runs discreet.

  source <(discreet completion bash)                                      in ~/.bashrc
  source <(discreet completion zsh)                                       in ~/.zshrc, after compinit
  discreet completion fish > ~/.config/fish/completions/discreet.fish`
}

func (c *completionCmd) Run(ctx *kong.Context, s console.Screen) error {
	all := spots(ctx.Model.Node, "")
	switch c.Shell {
	case "bash":
		bashScript(s.Out, all)
	case "zsh":
		zshScript(s.Out, all)
	default:
		fishScript(s.Out, all)
	}
	return nil
}

// spot is one place of the command line: after which words, and what can follow.
type spot struct {
	path     string // the words so far, each behind a space
	commands []word
	flags    []flagWord
	values   []string // of its argument, where there are a few
}

type word struct{ name, help string }

type flagWord struct {
	word
	short  string
	takes  bool     // a value
	values []string // which ones, where there are a few
}

// spots lists a command and all below it.
func spots(n *kong.Node, path string) []spot {
	at := spot{path: path}
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			w := flagWord{word: word{f.Name, f.Help}, takes: !f.IsBool(), values: choices(f.Value)}
			if f.Short != 0 {
				w.short = string(f.Short)
			}
			at.flags = append(at.flags, w)
		}
	}
	if n.Argument != nil {
		at.values = choices(n.Argument)
	}
	for _, p := range n.Positional {
		at.values = append(at.values, choices(p)...)
	}
	var below []spot
	for _, child := range n.Children {
		if child.Hidden || child.Type != kong.CommandNode {
			continue
		}
		at.commands = append(at.commands, word{child.Name, child.Help})
		below = append(below, spots(child, path+" "+child.Name)...)
		if n.DefaultCmd == child {
			at.flags = slices.Clone(below[len(below)-1].flags) // they can be written without its name
		}
	}
	return append([]spot{at}, below...)
}

func choices(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return strings.Split(v.Enum, ",")
}

// words are all that can be written at a place.
func (p spot) words() []string {
	var out []string
	for _, c := range p.commands {
		out = append(out, c.name)
	}
	out = append(out, p.values...)
	for _, f := range p.flags {
		out = append(out, "--"+f.name)
	}
	return out
}

// paths are the lines of a case that follows a word to the place behind it.
func paths(w io.Writer, all []spot, indent, set, end string) {
	for _, p := range all {
		for _, c := range p.commands {
			fmt.Fprintf(w, "%s'%s %s') %s'%s %s'%s\n", indent, p.path, c.name, set, p.path, c.name, end)
		}
	}
}

// valueCases are the lines of a case over a place and the flag before the cursor.
func valueCases(w io.Writer, all []spot, line func(pattern string, values []string)) {
	for _, p := range all {
		for _, f := range p.flags {
			if !f.takes {
				continue
			}
			pattern := fmt.Sprintf("'%s --%s'", p.path, f.name)
			if f.short != "" {
				pattern += fmt.Sprintf("|'%s -%s'", p.path, f.short)
			}
			line(pattern, f.values)
		}
	}
}

func bashScript(w io.Writer, all []spot) {
	fmt.Fprint(w, `# bash completion of discreet
_discreet() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="" at="" words="" i
  ((COMP_CWORD > 0)) && prev="${COMP_WORDS[COMP_CWORD-1]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${COMP_WORDS[i]}" in
`)
	paths(w, all, "      ", "at=", " ;;")
	fmt.Fprint(w, "    esac\n  done\n  COMPREPLY=()\n  case \"$at $prev\" in\n")
	valueCases(w, all, func(pattern string, values []string) {
		if len(values) == 0 {
			fmt.Fprintf(w, "    %s) return ;; # a file, by default\n", pattern)
		} else {
			fmt.Fprintf(w, "    %s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", pattern, strings.Join(values, " "))
		}
	})
	fmt.Fprint(w, "  esac\n  case \"$at\" in\n")
	for _, p := range all {
		fmt.Fprintf(w, "    '%s') words='%s' ;;\n", p.path, strings.Join(p.words(), " "))
	}
	fmt.Fprint(w, `  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -o bashdefault -F _discreet discreet
`)
}

func zshScript(w io.Writer, all []spot) {
	fmt.Fprint(w, `#compdef discreet
# zsh completion of discreet
_discreet() {
  local at="" word prev="${words[CURRENT-1]}"
  local -a found
  for word in "${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
`)
	paths(w, all, "      ", "at=", " ;;")
	fmt.Fprint(w, "    esac\n  done\n  case \"$at $prev\" in\n")
	valueCases(w, all, func(pattern string, values []string) {
		if len(values) == 0 {
			fmt.Fprintf(w, "    %s) _files; return ;;\n", pattern)
		} else {
			fmt.Fprintf(w, "    %s) compadd -- %s; return ;;\n", pattern, strings.Join(values, " "))
		}
	})
	fmt.Fprint(w, "  esac\n  case \"$at\" in\n")
	for _, p := range all {
		var found []string
		for _, c := range p.commands {
			found = append(found, described(c.name, c.help))
		}
		for _, v := range p.values {
			found = append(found, described(v, ""))
		}
		for _, f := range p.flags {
			found = append(found, described("--"+f.name, f.help))
		}
		fmt.Fprintf(w, "    '%s') found=(%s) ;;\n", p.path, strings.Join(found, " "))
	}
	fmt.Fprint(w, `  esac
  _describe -V discreet found || _files
}
compdef _discreet discreet
`)
}

// described is a word with its help, as _describe reads them.
func described(name, help string) string {
	if help == "" {
		return inQuotes(name)
	}
	return inQuotes(strings.ReplaceAll(name, ":", `\:`) + ":" + help)
}

// inQuotes is a text in quotes, for bash and zsh.
func inQuotes(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func fishScript(w io.Writer, all []spot) {
	fmt.Fprint(w, `# fish completion of discreet
function __discreet_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
`)
	for _, p := range all {
		for _, c := range p.commands {
			fmt.Fprintf(w, "      case '%s %s'\n        set at '%s %s'\n", p.path, c.name, p.path, c.name)
		}
	}
	fmt.Fprint(w, "    end\n  end\n  test \"$at\" = \"$argv[1]\"\nend\n")
	fish := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
	}
	for _, p := range all {
		here := "complete -c discreet -n " + fish("__discreet_at "+fish(p.path))
		for _, c := range p.commands {
			fmt.Fprintf(w, "%s -f -a %s -d %s\n", here, fish(c.name), fish(c.help))
		}
		if len(p.values) > 0 {
			fmt.Fprintf(w, "%s -f -a %s\n", here, fish(strings.Join(p.values, " ")))
		}
		for _, f := range p.flags {
			line := here + " -l " + f.name
			if f.short != "" {
				line += " -s " + f.short
			}
			switch {
			case f.takes && len(f.values) > 0:
				line += " -x -a " + fish(strings.Join(f.values, " "))
			case f.takes:
				line += " -r -F"
			}
			fmt.Fprintf(w, "%s -d %s\n", line, fish(f.help))
		}
	}
}
