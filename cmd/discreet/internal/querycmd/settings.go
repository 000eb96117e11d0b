package querycmd

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/api"
)

// setting is something that SET can change.
type setting struct{ name, about string }

// knownSettings is every setting, and what it is. Package curator gives them their meaning.
var knownSettings = []setting{
	{"dp.epsilon", "what a question pays"},
	{"dp.delta", "how much of delta private keys may cost"},
	{"dp.error", "the error that counts and sums should have, at the least price"},
	{"dp.confidence", "how often the exact number lies within the error"},
	{"dp.mechanism", "the noise of counts and sums: laplace or gaussian"},
	{"dp.max_groups", "in how many groups one person counts at most"},
	{"dp.max_sum", "what one person adds to a sum in one group at most"},
	{"dp.stream", "whether counts go through a stream of the policy: auto, on or off"},
	{"dp.errors", "whether answers have columns of error bars: off, columns or interval"},
	{"dp.counts", "whether counts below 0 are shown as they are: noisy, or as 0: nonnegative"},
}

// settings are the values that were set, as they were written.
type settings map[string]string

// apply fills a question with what was set.
func (s settings) apply(q *api.Question) (err error) {
	q.Settings, err = api.ParseSettings(s)
	return err
}

// set changes a setting, if its value can be used.
func (s settings) set(name, text string) error {
	if err := new(api.Settings).Set(name, text); err != nil {
		return err
	}
	s[strings.ToLower(name)] = text
	return nil
}

// settingNames lists the settings.
func settingNames() []string {
	var names []string
	for _, k := range knownSettings {
		names = append(names, k.name)
	}
	return names
}

// settingCommand is a SET, RESET or SHOW that was read.
type settingCommand struct {
	verb string // set, reset or show
	name string // a setting, budget or all
	at   setting
	text string // the value
	pos  int    // where the value is
}

// readSettingCommand reads SET name = value, SET name TO value, RESET name and SHOW name. It returns nil
// for everything that does not begin with one of these words.
func readSettingCommand(text string) (*settingCommand, error) {
	all, open := splitTokens(text)
	if len(all) == 0 || !(all[0].is("set") || all[0].is("reset") || all[0].is("show")) {
		return nil, nil
	}
	c := &settingCommand{verb: strings.ToLower(all[0].text)}
	usage := map[string]string{
		"set":   "write for example SET dp.epsilon = 0.5",
		"reset": "write for example RESET dp.epsilon, or RESET ALL",
		"show":  "write for example SHOW dp.epsilon, SHOW dp.budget, or SHOW ALL",
	}[c.verb]
	wrong := func(pos int, reason string) (*settingCommand, error) {
		return nil, &api.Refusal{Reason: reason, Instead: usage, Position: pos}
	}
	if open {
		return wrong(-1, "a quote is not closed")
	}
	n := 1
	for n < len(all) && (all[n].kind == wordToken && !all[n].is("to") || all[n].is(".")) && (n == 1 || all[n].start == all[n-1].end) {
		n++
	}
	if n == 1 {
		return wrong(-1, "the name of a setting is missing")
	}
	name := strings.ToLower(text[all[1].start:all[n-1].end])
	rest := all[n:]
	found := false
	for _, k := range knownSettings {
		if k.name == name {
			c.at, found = k, true
		}
	}
	c.name = name
	if !found && !(name == "all" && c.verb != "set") && !(name == "dp.budget" && c.verb == "show") {
		return nil, &api.Refusal{Reason: fmt.Sprintf("there is no setting %q", name), Instead: "the settings are " +
			strings.Join(settingNames(), ", "), Position: all[1].start}
	}
	if c.verb != "set" {
		if len(rest) > 0 {
			return wrong(rest[0].start, fmt.Sprintf("%s takes one name", strings.ToUpper(c.verb)))
		}
		return c, nil
	}
	if len(rest) < 2 || !(rest[0].is("=") || rest[0].is("to")) {
		return wrong(all[n-1].start, "the value is missing")
	}
	rest = rest[1:]
	c.pos = rest[0].start
	c.text = text[c.pos:rest[len(rest)-1].end]
	if len(rest) == 1 && rest[0].kind == stringToken && strings.HasPrefix(c.text, "'") {
		c.text = strings.ReplaceAll(c.text[1:len(c.text)-1], "''", "'")
	} else if len(rest) == 1 && rest[0].is("default") {
		c.verb = "reset"
	}
	return c, nil
}
