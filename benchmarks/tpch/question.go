package main

import (
	"embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/discreet-dp/discreet/api"
)

//go:embed questions/*.sql
var files embed.FS

// question is a query of TPC-H in private form. Each time that it is asked it has other values in
// the places in brackets, as in TPC-H, so that no answer was paid for before.
type question struct {
	name     string
	settings api.Settings
	texts    []string
}

var line = regexp.MustCompile(`(?m)^-- ([A-Z]+[0-9]?|dp\.[a-z_]+): (.+)$`)

// questions reads the files. A comment NAME: A, B, ... has the values of [NAME], and dp.NAME: A is a
// setting.
func questions() ([]question, error) {
	list, err := files.ReadDir("questions")
	if err != nil {
		return nil, err
	}
	var out []question
	for _, f := range list {
		text, err := files.ReadFile("questions/" + f.Name())
		if err != nil {
			return nil, err
		}
		q, err := read(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		q.name = "Q" + strings.TrimLeft(strings.Trim(f.Name(), "q.sl"), "0")
		out = append(out, q)
	}
	return out, nil
}

const times = 5 // how often each question is asked

func read(text string) (question, error) {
	settings, values := map[string]string{}, map[string][]string{}
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(m[1], "dp.") {
			settings[m[1]] = m[2]
			continue
		}
		values[m[1]] = strings.Split(m[2], ", ")
		if n := len(values[m[1]]); n != times {
			return question{}, fmt.Errorf("%s has %d values, and it is asked %d times", m[1], n, times)
		}
	}
	var body []string
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, "--") {
			body = append(body, l)
		}
	}
	var q question
	for i := range times {
		asked := strings.Join(body, "")
		for name, all := range values {
			asked = strings.ReplaceAll(asked, "["+name+"]", all[i])
		}
		if strings.Contains(asked, "[") {
			return question{}, fmt.Errorf("a place in brackets has no values")
		}
		q.texts = append(q.texts, asked)
	}
	var err error
	q.settings, err = api.ParseSettings(settings)
	return q, err
}
