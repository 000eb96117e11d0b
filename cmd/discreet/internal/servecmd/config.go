package servecmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// serveFile is the file of --config: the flags of serve, by their names.
type serveFile struct {
	path string
	keys map[string]*yaml.Node
}

// notKeys are flags that are no keys.
var notKeys = []string{"config", "demo", "help"}

// fileKeys are the keys that name a file, from the folder of the file that they stand in.
var fileKeys = []string{"policy", "users", "tls-cert", "tls-key", "openid-secret-file"}

// BeforeResolve reads the file. What it says counts where neither a flag nor the environment does.
func (c *ServeCmd) BeforeResolve(ctx *kong.Context) error {
	path := os.Getenv("DISCREET_CONFIG")
	var names []string
	for _, flag := range ctx.Flags() {
		if slices.Contains(notKeys, flag.Name) {
			if given, ok := ctx.FlagValue(flag).(string); flag.Name == "config" && ok && given != "" {
				path = given
			}
			continue
		}
		names = append(names, flag.Name)
	}
	if path == "" {
		return nil
	}
	f, err := readServeFile(path, names)
	if err != nil {
		return err
	}
	ctx.AddResolver(f)
	return nil
}

// readServeFile reads a file that has some of the names as keys, and no others.
func readServeFile(path string, names []string) (*serveFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	defer file.Close()
	f := &serveFile{path, map[string]*yaml.Node{}}
	var document yaml.Node
	reader := yaml.NewDecoder(io.LimitReader(file, 1<<20))
	if err := reader.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if document.Kind == 0 || document.Content[0].Tag == "!!null" {
		return f, nil // only comments
	}
	if err := reader.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is more than one document; keep one", path)
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, f.errorAt(top, "this must be keys and values, such as policy: hospital.yaml")
	}
	var wrong []error
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		switch {
		case !slices.Contains(names, key.Value):
			wrong = append(wrong, f.errorAt(key, "there is no key %q; the keys are %s", key.Value, strings.Join(names, ", ")))
		case f.keys[key.Value] != nil:
			wrong = append(wrong, f.errorAt(key, "%s is given twice, first in line %d; keep one", key.Value, f.keys[key.Value].Line))
		case value.Kind != yaml.ScalarNode:
			wrong = append(wrong, f.errorAt(value, "%s must be a single value", key.Value))
		default:
			f.keys[key.Value] = value
		}
	}
	return f, errors.Join(wrong...)
}

// errorAt is something that is wrong at a place, in the form that editors jump to.
func (f *serveFile) errorAt(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %s", f.path, n.Line, n.Column, fmt.Sprintf(format, args...))
}

// Validate implements [kong.Resolver]. The keys were checked when they were read.
func (f *serveFile) Validate(*kong.Application) error { return nil }

// Resolve implements [kong.Resolver]. The value is tried first, so that what is wrong with it has a
// line.
func (f *serveFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	n := f.keys[flag.Name]
	if n == nil {
		return nil, nil
	}
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return nil, nil
		}
	}
	text := n.Value
	if n.Tag == "!!null" {
		text = ""
	}
	if slices.Contains(fileKeys, flag.Name) && text != "" && !filepath.IsAbs(text) && !users.InDatabase(text) {
		text = filepath.Join(filepath.Dir(f.path), text)
	}
	value := *flag.Value // a copy, because trying it notes that it was set
	err := value.Parse(kong.Scan().PushTyped(text, kong.FlagValueToken), reflect.New(flag.Target.Type()).Elem())
	if err == nil && flag.Enum != "" && !slices.Contains(strings.Split(flag.Enum, ","), text) {
		err = fmt.Errorf("must be one of %s", strings.ReplaceAll(flag.Enum, ",", ", "))
	}
	if err != nil {
		return nil, f.errorAt(n, "%v", err)
	}
	return text, nil
}
