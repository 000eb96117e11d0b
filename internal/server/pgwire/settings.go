package pgwire

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
)

// The names that are ours and no settings of an answer's.
const (
	requestSetting = "dp.request" // names the next question, and only that
	budgetSetting  = "dp.budget"  // can be shown
)

type settingValues struct {
	dp       api.Settings
	postgres map[string]string // by the name as it is in known; only what differs from the default
}

func (v settingValues) clone() settingValues { return settingValues{v.dp, maps.Clone(v.postgres)} }

// settings are a session's. SET changes current and committed, SET LOCAL only current, and the end
// of a block makes current what is committed.
type settings struct {
	current, committed settingValues
	atStartup          settingValues     // what RESET goes back to: what the client said at the start
	fromServer         map[string]string // what the server says
	requestName        string
	say                func(text string) // tells the client something
}

func newSettings(version, user string, say func(string)) *settings {
	return &settings{
		say:        say,
		current:    settingValues{postgres: map[string]string{}},
		committed:  settingValues{postgres: map[string]string{}},
		atStartup:  settingValues{postgres: map[string]string{}},
		fromServer: map[string]string{"server_version": serverVersion(version), "session_authorization": user},
	}
}

// serverVersion begins as PostgreSQL's does, because clients decide by it which catalogue they ask
// for.
func serverVersion(version string) string {
	return strings.TrimSpace("15.0 (discreet " + version + ")")
}

// startupParameters are parameters of a startup that are no settings.
var startupParameters = []string{"user", "database", "options", "replication"}

// checkStartup refuses what can be refused before anybody is in. It names nothing that only those
// who are in may know.
func checkStartup(wanted map[string]string) error {
	for name, value := range wanted {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return fatal(invalidEncoding, "the startup packet is not in UTF-8")
		}
	}
	if wanted["user"] == "" {
		return fatal(invalidAuthorization, "the user name is missing")
	}
	if on, err := acceptSwitch(wanted["replication"]); wanted["replication"] != "" && (err != nil || on == "on") {
		return fatal(notSupported, "replication is not supported")
	}
	return nil
}

func (s *settings) applyStartup(wanted map[string]string) error {
	pairs, err := parseOptions(wanted["options"])
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if !slices.Contains(startupParameters, name) {
			pairs = append(pairs, [2]string{name, wanted[name]})
		}
	}
	for _, p := range pairs {
		if err := s.set(p[0], p[1], false); err != nil {
			return err
		}
	}
	s.atStartup = s.committed.clone()
	return nil
}

// parseOptions reads -c name=value and --name=value, as PGOPTIONS has them.
func parseOptions(text string) (pairs [][2]string, err error) {
	var words []string
	var word strings.Builder
	open := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			open = true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-c" && i+1 < len(words):
			i++
			w = words[i]
		case strings.HasPrefix(w, "--"):
			w = w[2:]
		case strings.HasPrefix(w, "-c") && len(w) > 2:
			w = w[2:]
		default:
			return nil, fatal(syntaxError, "options can only be -c name=value")
		}
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			return nil, fatal(syntaxError, "options can only be -c name=value")
		}
		pairs = append(pairs, [2]string{strings.ReplaceAll(name, "-", "_"), value})
	}
	return pairs, nil
}

func (s *settings) set(name, value string, local bool) error {
	if len(value) > maxSettingBytes || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return failure(invalidParameter, "the value of %s is too long, or is not text", shorten(name))
	}
	if isOwn(name) {
		return s.setOwn(strings.ToLower(name), value, local)
	}
	if isCustom(name) {
		return s.setCustom(strings.ToLower(name), value, local)
	}
	k, ok := findSetting(name)
	if !ok {
		return unknownSetting(name)
	}
	if k.accept == nil {
		return k.whyFixed()
	}
	text, err := k.accept(value)
	if says := fallbackNotices[k.name]; err != nil && says != "" {
		s.say(says)
		text, err = k.value, nil
	}
	if err != nil {
		return failure(invalidParameter, "%s cannot be %s", k.name, strconv.Quote(shorten(value))).withHint(err.Error())
	}
	s.changeValues(local, func(v *settingValues) { v.postgres[k.name] = text })
	return nil
}

// maxCustom is how many settings of its own a session has.
const maxCustom = 100

// isCustom reports whether a name is one that PostgreSQL leaves to applications: of two parts or
// more, with dots between them.
func isCustom(name string) bool {
	parts := strings.Split(name, ".")
	if len(parts) < 2 || len(name) > 128 || isOwn(name) {
		return false
	}
	for _, p := range parts {
		if p == "" || strings.IndexByte("0123456789$", p[0]) >= 0 || strings.ContainsFunc(p, func(r rune) bool {
			return r < 128 && !(r == '_' || r == '$' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z')
		}) {
			return false
		}
	}
	return true
}

// setCustom keeps a setting of the application's for the session. It means nothing here.
func (s *settings) setCustom(name, value string, local bool) error {
	if _, ok := s.current.postgres[name]; !ok {
		n := 0
		for known := range s.current.postgres {
			if strings.Contains(known, ".") {
				n++
			}
		}
		if n >= maxCustom {
			return failure(limitExceeded, "a session can have at most %d settings of its own", maxCustom)
		}
	}
	s.changeValues(local, func(v *settingValues) { v.postgres[name] = value })
	return nil
}

func (s *settings) setOwn(name, value string, local bool) error {
	if err := checkOwn(name, value); err != nil {
		return err
	}
	if name == requestSetting {
		s.requestName = value
		return nil
	}
	s.changeValues(local, func(v *settingValues) { setValue(&v.dp, name, value) })
	return nil
}

// checkOwn says why a setting of ours cannot have a value, which depends on nothing else.
func checkOwn(name, value string) *wireError {
	switch {
	case len(value) > maxSettingBytes:
		return failure(invalidParameter, "the value of %s is too long, or is not text", shorten(name))
	case name == budgetSetting:
		return failure(cannotChange, "you can show dp.budget, but only the owner of the data can change it")
	case name == requestSetting:
		return nil
	case !slices.Contains(api.SettingNames(), name):
		return unknownSetting(name)
	}
	if err := new(api.Settings).Set(name, value); err != nil {
		return failure(invalidParameter, "%s", err)
	}
	return nil
}

// setValue sets a value that was checked.
func setValue(s *api.Settings, name, value string) {
	if s.Set(name, value) != nil {
		return
	}
	// A price and an error are two ways of saying the same, and the later one counts.
	switch name {
	case "dp.epsilon":
		s.Error = nil
	case "dp.error":
		s.Epsilon = 0
	}
}

// changeValues changes what counts now and, unless it is local to a block, what stays.
func (s *settings) changeValues(local bool, change func(*settingValues)) {
	change(&s.current)
	if !local {
		change(&s.committed)
	}
}

// reset gives a setting the value that it had at the start of the session.
func (s *settings) reset(name string, local bool) error {
	if isOwn(name) {
		name = strings.ToLower(name)
		if name == requestSetting {
			s.requestName = ""
			return nil
		}
		if !slices.Contains(api.SettingNames(), name) {
			return unknownSetting(name)
		}
		s.changeValues(local, func(v *settingValues) { restoreOwn(&v.dp, s.atStartup.dp, name) })
		return nil
	}
	if isCustom(name) {
		name = strings.ToLower(name)
		return s.setCustom(name, s.atStartup.postgres[name], local)
	}
	k, ok := findSetting(name)
	if !ok {
		return unknownSetting(name)
	}
	s.changeValues(local, func(v *settingValues) {
		if text, ok := s.atStartup.postgres[k.name]; ok {
			v.postgres[k.name] = text
		} else {
			delete(v.postgres, k.name)
		}
	})
	return nil
}

// restoreOwn takes one setting from what was said first.
func restoreOwn(to *api.Settings, from api.Settings, name string) {
	switch name {
	case "dp.epsilon":
		if to.Epsilon = from.Epsilon; from.Epsilon > 0 {
			to.Error = nil
		}
	case "dp.delta":
		to.Delta = from.Delta
	case "dp.error":
		if to.Error = from.Error; from.Error != nil {
			to.Epsilon = 0
		}
	case "dp.values":
		to.Values = from.Values
	case "dp.confidence":
		to.Confidence = from.Confidence
	case "dp.mechanism":
		to.Mechanism = from.Mechanism
	case "dp.max_rows":
		to.MaxRows = from.MaxRows
	case "dp.max_groups":
		to.MaxGroups = from.MaxGroups
	case "dp.max_sum":
		to.MaxSum = from.MaxSum
	case "dp.stream":
		to.Stream = from.Stream
	case "dp.errors":
		to.Errors = from.Errors
	case "dp.counts":
		to.Counts = from.Counts
	}
}

func (s *settings) resetAll() {
	s.current, s.committed, s.requestName = s.atStartup.clone(), s.atStartup.clone(), ""
}

func (s *settings) show(name string) (string, bool) {
	if isOwn(name) {
		if strings.EqualFold(name, requestSetting) {
			return s.requestName, true
		}
		text, err := s.current.dp.Show(name)
		return text, err == nil
	}
	if isCustom(name) {
		text, ok := s.current.postgres[strings.ToLower(name)]
		return text, ok
	}
	k, ok := findSetting(name)
	if !ok {
		return "", false
	}
	if text, ok := s.fromServer[k.name]; ok {
		return text, true
	}
	text, ok := s.current.postgres[k.name]
	if !ok {
		text = k.value
	}
	return k.show(text), true
}

// takeRequestName returns the name of the next question, which only it has.
func (s *settings) takeRequestName() string {
	r := s.requestName
	s.requestName = ""
	return r
}

// timeout is what the client wants; the dispatcher has one of its own.
func (s *settings) timeout() time.Duration {
	ms, _ := strconv.ParseInt(s.current.postgres["statement_timeout"], 10, 64)
	return time.Duration(ms) * time.Millisecond
}

// isQuiet says whether the client wants no messages of a severity.
func (s *settings) isQuiet(severity string) bool {
	switch s.current.postgres["client_min_messages"] {
	case "warning":
		return severity == "NOTICE"
	case "error":
		return true
	}
	return false
}

func isOwn(name string) bool { return len(name) > 3 && strings.EqualFold(name[:3], "dp.") }

func unknownSetting(name string) *wireError {
	e := failure(undefinedObject, "there is no setting %s", strconv.Quote(shorten(name)))
	if strings.Contains(name, "dp") || strings.Contains(name, "epsilon") {
		e.hint = "the settings of an answer are " + joinNames(append(api.SettingNames(), requestSetting)) + "; " +
			budgetSetting + " can be shown"
	}
	return e
}

// shorten keeps a name or a value short enough to be repeated.
func shorten(text string) string {
	const most = 60
	r := []rune(text)
	if len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}

func showColumns(name string) []column {
	switch strings.ToLower(name) {
	case "all":
		return textColumns("name", "setting", "description")
	case budgetSetting:
		return textColumns("account", "kind", "claim", "limit", "spent", "left")
	}
	if k, ok := findSetting(name); ok {
		name = k.name
	}
	return textColumns(name)
}

func textColumns(names ...string) (out []column) {
	for _, name := range names {
		out = append(out, column{name: name, oid: textOID})
	}
	return out
}

func (r *router) checkShow(name string) error {
	if _, ok := r.settings.show(name); ok || strings.EqualFold(name, "all") || strings.EqualFold(name, budgetSetting) {
		return nil
	}
	return unknownSetting(name)
}

var ownDescriptions = map[string]string{
	"dp.epsilon":    "the price of a question",
	"dp.delta":      "how much delta private keys may cost",
	"dp.error":      "the error that counts, sums and averages should have, at the lowest price",
	"dp.values":     "about how many values the smallest average is of, for dp.error",
	"dp.confidence": "how often the exact number is within the error",
	"dp.mechanism":  "the noise of counts and sums: laplace or gaussian",
	"dp.max_rows":   "the most rows of one person that count in a group, or auto",
	"dp.max_groups": "the most groups that one person counts in, or auto",
	"dp.max_sum":    "the most that one person adds to a sum in one group",
	"dp.errors":     "whether answers have columns of error bars: off, columns, interval or whole",
	"dp.counts":     "whether negative counts are shown as they are (noisy) or as 0 (nonnegative)",
	"dp.stream":     "whether counts go through a stream of the policy: auto, on or off",
	requestSetting:  "names the next question, so that it can be asked again without a second charge",
}

func (r *runner) runShow(name string) (*result, error) {
	out := &result{tag: "SHOW", columns: showColumns(name)}
	switch {
	case strings.EqualFold(name, "all"):
		for _, n := range append(api.SettingNames(), requestSetting) {
			value, _ := r.settings.show(n)
			out.rows = append(out.rows, []any{n, value, ownDescriptions[n]})
		}
		for _, k := range allSettings {
			if k.listed == nil || !k.listed.Current() {
				continue
			}
			value, _ := r.settings.show(k.name)
			out.rows = append(out.rows, []any{k.name, value, k.listed.Description})
		}
		return out, nil
	case strings.EqualFold(name, budgetSetting):
		err := r.showBudget(out)
		return out, err
	}
	value, _ := r.settings.show(name)
	out.rows = [][]any{{value}}
	return out, nil
}

// showBudget shows an analyst's own account, and an owner all of them.
func (r *runner) showBudget(out *result) error {
	db := r.asker.dispatcher.DB()
	return r.execution.run(func(ctx context.Context) error {
		accounts, err := db.Budget(ctx, r.dataset.Name)
		if err != nil {
			return err
		}
		closed, two := slices.ContainsFunc(accounts, keptByRho), false
		for _, a := range accounts {
			if r.analyst && !r.ownsAccount(a) {
				continue
			}
			if closed && a.Limit.Rho != dp.Unbounded {
				a.Limit.Epsilon = dp.Unbounded
			}
			two = two || a.Limit.Epsilon != dp.Unbounded && a.Limit.Rho != dp.Unbounded
			for _, c := range []struct {
				name               string
				limit, spent, left dp.Amount
			}{
				{"epsilon", a.Limit.Epsilon, a.Spent.Epsilon, a.Left.Epsilon},
				{"rho", a.Limit.Rho, a.Spent.Rho, a.Left.Rho},
				{"delta", a.Limit.Delta, a.Spent.Delta, a.Left.Delta},
			} {
				if c.limit != dp.Unbounded && c.limit > 0 {
					out.rows = append(out.rows, []any{a.Name, a.Kind, c.name, c.limit.String(), c.spent.String(), c.left.String()})
				}
			}
		}
		if two {
			r.out.say("this budget adds up epsilon or rho, whichever lasts longer")
		}
		if !r.analyst {
			return nil
		}
		left, err := db.Remaining(ctx, r.dataset.Name, r.user.Name)
		if err != nil {
			return err
		}
		r.out.say("left: " + render.Left(left) + render.AtDefault(left, db.Policy().Datasets[r.dataset.Name].Budget.DefaultEpsilon))
		return nil
	})
}

// keptByRho reports whether a dataset's account has no epsilon left for good, because of Gaussian
// noise, so that the sum of rho keeps all of its budget.
func keptByRho(a api.Account) bool {
	return a.Kind == "dataset" && a.Limit.Rho != dp.Unbounded && a.Spent.Epsilon == dp.Unbounded
}

// ownsAccount says whether an account is the user's own quota.
func (r *runner) ownsAccount(a api.Account) bool {
	name := r.dataset.Name + "/" + r.user.Name
	if a.Window > 0 {
		name = ledger.WindowName(name, a.Window)
	}
	return a.Kind == "analyst" && a.Name == name
}
