package pgwire

import (
	"regexp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/grammar"
)

// A comment before a statement can have settings for it alone, as in
//
//	/* dp.epsilon = 0.2, dp.errors = interval */ SELECT ...
//
// They go where the text goes, also through a pool that gives each transaction another session.
// Comments of others, such as those of ORMs, do not begin with dp. and say nothing. What begins so
// is meant, so it is an error where it cannot be read, or stands where nobody looks.

// ownSettings are those of a comment, in its order.
type ownSettings [][2]string

// apply puts them in the place of the session's.
func (o ownSettings) apply(s api.Settings) api.Settings {
	for _, pair := range o {
		if pair[0] != requestSetting {
			setValue(&s, pair[0], pair[1])
		}
	}
	return s
}

// request is the name of the question, or what it is without.
func (o ownSettings) request(without string) string {
	for _, pair := range o {
		if pair[0] == requestSetting {
			return pair[1]
		}
	}
	return without
}

const settingsExample = "write for example /* dp.epsilon = 0.2, dp.errors = interval */ SELECT ..."

// readComments returns the settings of the comment before a statement.
func readComments(words []grammar.Word, sql string) (ownSettings, error) {
	var found ownSettings
	before := true
	for _, w := range words {
		if w.Kind != pg.Token_C_COMMENT && w.Kind != pg.Token_SQL_COMMENT {
			before = false
			continue
		}
		text := sql[w.Start:w.End]
		inside := strings.TrimSpace(strings.TrimSuffix(text[2:], "*/"))
		if !isOwn(inside) {
			continue
		}
		fail := func(e *wireError) error {
			e.position = int(w.Start) + 1
			return e
		}
		switch {
		case !before:
			return nil, fail(failure(syntaxError, "settings in a comment must come before the statement").withHint(settingsExample))
		case w.Kind == pg.Token_SQL_COMMENT:
			return nil, fail(failure(syntaxError, "settings cannot be in a comment of one line").withHint(settingsExample))
		case found != nil:
			return nil, fail(failure(syntaxError, "two comments have settings").withHint("write all of them into one"))
		}
		var e *wireError
		if found, e = readSettings(inside); e != nil {
			return nil, fail(e)
		}
	}
	return found, nil
}

// settingPair is one setting in a comment and what ends it.
var settingPair = regexp.MustCompile(`\A\s*(?i:(dp\.[a-z_]+))\s*=\s*(?:'((?:[^']|'')*)'|([^\s,;='"*/]+))\s*(,|\z)`)

func readSettings(text string) (ownSettings, *wireError) {
	var out ownSettings
	for more := true; more; {
		m := settingPair.FindStringSubmatch(text)
		if m == nil {
			return nil, failure(syntaxError, "this comment begins as settings do, but cannot be read: %q", shorten(text)).
				withHint(settingsExample)
		}
		name, value := strings.ToLower(m[1]), m[3]
		if value == "" {
			value = strings.ReplaceAll(m[2], "''", "'")
		}
		if slices.ContainsFunc(out, func(p [2]string) bool { return p[0] == name }) {
			return nil, failure(syntaxError, "the comment sets %s twice", name)
		}
		if err := checkOwn(name, value); err != nil {
			return nil, err
		}
		out = append(out, [2]string{name, value})
		text, more = text[len(m[0]):], m[4] == ","
	}
	return out, nil
}

// refuseElsewhere refuses settings before a statement that asks what another one says.
func (o ownSettings) refuseElsewhere(kind statementKind) error {
	if o != nil && (kind == executeStatement || kind == fetchStatement) {
		return failure(syntaxError, "this statement takes no settings in a comment").
			withHint("write the comment before the PREPARE or DECLARE")
	}
	return nil
}
