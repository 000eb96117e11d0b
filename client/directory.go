package client

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Directory is a file of servers: what each is called, where it is, and where one's token for it
// is. Each server has a token of its own, because whoever gets a token can ask with it.
//
//	servers:
//	  north: {url: "https://north.example:8432", dataset: hospital, token_file: north.token}
//	  south: {url: "https://south.example:8432", token_env: SOUTH_TOKEN}
//
// A file of a token is meant beside the directory, unless its path says otherwise.
type Directory struct {
	Servers map[string]Entry `yaml:"servers"`
	folder  string
}

// Entry is a server of a directory.
type Entry struct {
	URL     string `yaml:"url"`
	Dataset string `yaml:"dataset"`
	// TokenFile is a file with the token, and TokenEnv a variable of the environment; one of them.
	TokenFile string `yaml:"token_file"`
	TokenEnv  string `yaml:"token_env"`
}

// ReadDirectory reads a file of servers.
func ReadDirectory(path string) (*Directory, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out := &Directory{folder: filepath.Dir(path)}
	d := yaml.NewDecoder(io.LimitReader(file, 1<<20))
	d.KnownFields(true)
	if err := d.Decode(out); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// Server returns a server by its name, or by name/dataset.
func (d *Directory) Server(name string) (*Server, error) {
	called, dataset, _ := strings.Cut(name, "/")
	e, ok := d.Servers[called]
	if !ok {
		return nil, fmt.Errorf("the file has no server %q; it has %s", called,
			strings.Join(slices.Sorted(maps.Keys(d.Servers)), ", "))
	}
	token, err := e.token(d.folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", called, err)
	}
	s, err := New(e.URL, token)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", called, err)
	}
	s.Name = name
	for _, chosen := range []string{e.Dataset, dataset} {
		if chosen != "" {
			s.Dataset = chosen
		}
	}
	return s, nil
}

func (e Entry) token(folder string) (string, error) {
	switch {
	case (e.TokenFile == "") == (e.TokenEnv == ""):
		return "", errors.New("give each server either a token_file or a token_env")
	case e.TokenEnv != "":
		return os.Getenv(e.TokenEnv), nil
	}
	path := e.TokenFile
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}
