package pgwire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/inventory"
)

// setting is one of PostgreSQL's settings. Hardly any of them does something here; they are kept,
// so that a client finds what it left, and refused where answers would not be what the setting
// promises.
type setting struct {
	name  string
	value string // by default
	// accept returns how a value is written, or why it is not one. Where it is nil, nothing can be
	// set.
	accept func(text string) (string, error)
	listed *inventory.Setting // as PostgreSQL has it, or nil
}

// knownSettings are the settings that have another value here than PostgreSQL gives them, or take
// fewer. The others are as the inventory has them.
var knownSettings = []setting{
	{name: "array_nulls", value: "on", accept: acceptOneOf("on")},
	{name: "client_encoding", value: "UTF8", accept: acceptUTF8},
	{name: "DateStyle", value: "ISO, MDY", accept: acceptISO},
	{name: "default_transaction_isolation", value: "read committed", accept: acceptIsolation},
	{name: "in_hot_standby", value: "off"},
	{name: "integer_datetimes", value: "on"},
	{name: "is_superuser", value: "off"},
	{name: "jit", value: "off", accept: acceptSwitch},
	{name: "lc_collate", value: "C.UTF-8"},
	{name: "lc_ctype", value: "C.UTF-8"},
	{name: "lc_messages", value: "C", accept: acceptAny},
	{name: "log_timezone", value: "UTC"},
	{name: "role", value: "none", accept: acceptOneOf("none")},
	{name: "server_encoding", value: "UTF8"},
	{name: "server_version"},
	{name: "server_version_num", value: "150000"},
	{name: "session_authorization"},
	{name: "standard_conforming_strings", value: "on", accept: acceptOneOf("on")},
	{name: "TimeZone", value: "UTC", accept: acceptUTC},
	{name: "track_activities", value: "off"},
	{name: "track_counts", value: "off"},
	{name: "transaction_isolation", value: "read committed", accept: acceptIsolation},
	{name: "transform_null_equals", value: "off", accept: acceptOneOf("off")},
}

// allSettings are all settings that PostgreSQL has, in the order of SHOW ALL.
var allSettings = func() (out []setting) {
	for i := range inventory.Settings {
		listed := &inventory.Settings[i]
		k := setting{name: listed.Name, value: listed.Value}
		if listed.Context == "user" {
			k.accept = listed.Read
		}
		for _, own := range knownSettings {
			if own.name == listed.Name {
				k = own
			}
		}
		k.listed = listed
		out = append(out, k)
	}
	for _, own := range knownSettings {
		if inventory.FindSetting(own.name) == nil {
			out = append(out, own)
		}
	}
	slices.SortFunc(out, func(a, b setting) int { return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) })
	return out
}()

var settingsByName = func() map[string]setting {
	m := map[string]setting{}
	for _, s := range allSettings {
		m[strings.ToLower(s.name)] = s
	}
	return m
}()

// show writes a value as SHOW does.
func (k setting) show(value string) string {
	if k.listed == nil {
		return value
	}
	return k.listed.Show(value)
}

// whyFixed says why nobody can set it here.
func (k setting) whyFixed() error {
	if k.listed != nil && strings.HasPrefix(k.listed.Context, "superuser") {
		return failure(notPermitted, "permission denied to set parameter %q", k.name)
	}
	return failure(cannotChange, "the setting %s cannot be changed", k.name)
}

// fallbackNotices is what a client is told that sets one of these to what it cannot be, where that
// does no harm: the setting stays at its default, and the client goes on. Drivers and machines set
// them unasked.
var fallbackNotices = map[string]string{
	"client_encoding": "text is in UTF8 here, whatever client_encoding says; it stays UTF8",
	"DateStyle":       "dates are written in ISO 8601, whatever DateStyle says; it stays ISO",
	"TimeZone":        "columns have no time zone here, so a time zone changes no answer; TimeZone stays UTC",
}

// reportedSettings are told to the client at the start, and whenever they change.
var reportedSettings = []string{
	"application_name", "client_encoding", "DateStyle", "default_transaction_read_only", "in_hot_standby", "integer_datetimes",
	"IntervalStyle", "is_superuser",
	"server_encoding", "server_version", "session_authorization", "standard_conforming_strings", "TimeZone",
}

func findSetting(name string) (setting, bool) {
	k, ok := settingsByName[strings.ToLower(name)]
	return k, ok
}

func acceptAny(text string) (string, error) { return text, nil }

func acceptOneOf(words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if w := strings.ToLower(text); slices.Contains(words, w) {
			return w, nil
		}
		if slices.Contains(words, "on") {
			if on, err := acceptSwitch(text); err == nil && slices.Contains(words, on) {
				return on, nil
			}
		}
		return "", fmt.Errorf("it can only be %s", joinNames(words))
	}
}

func acceptSwitch(text string) (string, error) { return inventory.Switch(text) }

func acceptUTF8(text string) (string, error) {
	switch strings.NewReplacer("-", "", "_", "", "'", "", `"`, "", " ", "").Replace(strings.ToLower(text)) {
	case "utf8", "unicode", "default", "auto":
		return "UTF8", nil
	}
	return "", fmt.Errorf("text is in UTF8 only")
}

func acceptISO(text string) (string, error) {
	order := "MDY"
	for _, w := range strings.Split(text, ",") {
		switch w = strings.ToUpper(strings.TrimSpace(w)); w {
		case "ISO", "DEFAULT":
		case "MDY", "DMY", "YMD":
			order = w
		case "US", "NONEURO", "NONEUROPEAN":
			order = "MDY"
		case "EURO", "EUROPEAN":
			order = "DMY"
		default:
			return "", fmt.Errorf("dates are written in ISO 8601; it can only be ISO")
		}
	}
	return "ISO, " + order, nil
}

func acceptUTC(text string) (string, error) {
	switch strings.ToLower(strings.Trim(text, ` '"`)) {
	case "utc", "gmt", "etc/utc", "etc/gmt", "uct", "zulu", "universal", "etc/universal", "z", "0", "+00", "+00:00", "gmt0", "utc0",
		"default", "00:00", "-00:00", "-00", "local":
		return "UTC", nil
	}
	return "", fmt.Errorf("times are in UTC only")
}

func acceptIsolation(text string) (string, error) {
	return acceptOneOf("serializable", "repeatable read", "read committed", "read uncommitted")(text)
}
