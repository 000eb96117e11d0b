package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/ownercmd"
)

// TestCommandsPage holds docs/commands.md against the command line's own model.
func TestCommandsPage(t *testing.T) {
	t.Parallel()
	const page = "../../docs/commands.md"
	parser, err := kong.New(&cli{}, kong.Name("discreet"), durations,
		kong.Vars{"listen": ownercmd.DefaultListen, "http": ownercmd.DefaultHTTP})
	if err != nil {
		t.Fatal(err)
	}
	made := commandsPage(parser.Model.Node)
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if contents(t, page) != made {
		t.Errorf("%s is of other commands; go test ./cmd/discreet -run TestCommandsPage -rewrite writes it", page)
	}
	for _, want := range []string{"\n## discreet query\n", "\n### discreet ledger topup\n", "| `--epsilon=EPSILON` |",
		"`DISCREET_POLICY`"} {
		if !strings.Contains(made, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func commandsPage(root *kong.Node) string {
	var b strings.Builder
	b.WriteString("<!-- generated: do not edit; go test ./cmd/discreet -run TestCommandsPage -rewrite -->\n" +
		"# Commands\n\nThis page is for everybody who runs `discreet`. It lists every command with its arguments, flags and\n" +
		"environment variables, as `--help` prints them. [Errors](errors.md#exit-codes) has the exit codes.\n\n" +
		"| command | does |\n|---|---|\n")
	for _, c := range root.Children {
		if !c.Hidden {
			fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", c.Name, "discreet-"+c.Name, cell(c.Help))
		}
	}
	b.WriteString("\nEvery command also takes `--help`.\n")
	for _, c := range root.Children {
		writeCommand(&b, c, "##")
	}
	return b.String()
}

// writeCommand writes a section for a command, and one below it for each that it has.
func writeCommand(b *strings.Builder, n *kong.Node, level string) {
	if n.Hidden {
		return
	}
	fmt.Fprintf(b, "\n%s %s\n\n%s\n", level, n.FullPath(), n.Help)
	usage := n.FullPath()
	if len(n.Children) > 0 {
		usage += " <command>"
	}
	for _, p := range n.Positional {
		usage += " " + p.Summary()
	}
	if flags := visible(n); len(flags) > 0 {
		usage += " [flags]"
	}
	fmt.Fprintf(b, "\n    %s\n", usage)
	if detail := strings.TrimSpace(n.Detail); detail != "" {
		fmt.Fprintf(b, "\n%s\n", fenced(n.Detail))
	}
	var rows []string
	for _, p := range n.Positional {
		if p.Help != "" {
			rows = append(rows, fmt.Sprintf("| `%s` | %s |", strings.ReplaceAll(p.Summary(), "|", `\|`), cell(p.Help)))
		}
	}
	for _, f := range visible(n) {
		rows = append(rows, fmt.Sprintf("| %s | %s |", flagName(f), cell(f.Help)+flagNotes(f)))
	}
	if len(rows) > 0 {
		fmt.Fprintf(b, "\n| argument or flag | |\n|---|---|\n%s\n", strings.Join(rows, "\n"))
	}
	for _, c := range n.Children {
		writeCommand(b, c, "###")
	}
}

func visible(n *kong.Node) (out []*kong.Flag) {
	for _, f := range n.Flags {
		if !f.Hidden && f.Name != "help" {
			out = append(out, f)
		}
	}
	return out
}

func flagName(f *kong.Flag) string {
	name := "--" + f.Name
	if f.IsBool() && f.Tag.Negatable != "" {
		name = "--[no-]" + f.Name
	} else if !f.IsBool() && !f.IsCounter() {
		name += "=" + strings.ToUpper(strings.Trim(f.FormatPlaceHolder(), `"`))
	}
	name = "`" + strings.ReplaceAll(name, "|", `\|`) + "`"
	if f.Short != 0 {
		name = fmt.Sprintf("`-%c`, %s", f.Short, name)
	}
	return name
}

// flagNotes says of a flag what its help does not.
func flagNotes(f *kong.Flag) string {
	var notes []string
	if f.Required {
		notes = append(notes, "required")
	}
	if f.Enum != "" && !strings.Contains(f.Help, f.Enum) {
		notes = append(notes, "one of "+strings.ReplaceAll(f.Enum, ",", ", "))
	}
	if f.HasDefault && f.Default != "" && !strings.Contains(f.Help, f.Default) {
		notes = append(notes, "default `"+f.Default+"`")
	}
	for _, e := range f.Envs {
		notes = append(notes, "environment `"+e+"`")
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, "; ") + ")"
}

// cell makes a text fit into a table.
func cell(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(text)), " ")
}

// fenced puts the examples of a text, which are indented, into blocks of code.
func fenced(text string) string {
	var out []string
	inside := false
	for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
		line = strings.TrimRight(line, "\n")
		code := strings.HasPrefix(line, "  ")
		if code != inside && line != "" {
			if code {
				if len(out) > 0 && out[len(out)-1] != "" {
					out = append(out, "")
				}
				out = append(out, "```console")
			} else {
				for out[len(out)-1] == "" {
					out = out[:len(out)-1]
				}
				out = append(out, "```", "")
			}
			inside = code
		}
		if !inside {
			line = strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(line)
		}
		if line = strings.TrimPrefix(line, "  "); line != "" || len(out) > 0 && out[len(out)-1] != "" {
			out = append(out, line)
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	if inside {
		out = append(out, "```")
	}
	return strings.Join(out, "\n")
}
