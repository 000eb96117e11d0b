package pgwire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is one of PostgreSQL's settings that clients set or ask for. Hardly any of them does
// something here; they are kept, so that a client finds what it left, and refused where answers
// would not be what the setting promises.
type setting struct {
	name  string
	value string // by default
	// accept returns how a value is written, or why it is not one. Where it is nil, nothing can be
	// set.
	accept func(text string) (string, error)
}

// knownSettings is every setting of PostgreSQL's that exists here, in the order of SHOW ALL.
var knownSettings = []setting{
	{"application_name", "", acceptAny},
	{"backslash_quote", "safe_encoding", acceptOneOf("safe_encoding", "on", "off")},
	{"bytea_output", "hex", acceptOneOf("hex", "escape")},
	{"check_function_bodies", "on", acceptSwitch},
	{"client_encoding", "UTF8", acceptUTF8},
	{"client_min_messages", "notice",
		acceptOneOf("debug5", "debug4", "debug3", "debug2", "debug1", "debug", "log", "notice", "warning", "error")},
	{"DateStyle", "ISO, MDY", acceptISO},
	{"default_tablespace", "", acceptAny},
	{"default_transaction_deferrable", "off", acceptSwitch},
	{"default_transaction_isolation", "read committed", acceptIsolation},
	{"default_transaction_read_only", "off", acceptSwitch},
	{"escape_string_warning", "on", acceptSwitch},
	{"extra_float_digits", "1", acceptNumber(-15, 3)},
	{"geqo", "on", acceptSwitch},
	{"idle_in_transaction_session_timeout", "0", acceptDuration},
	{"idle_session_timeout", "0", acceptDuration},
	{"in_hot_standby", "off", nil},
	{"integer_datetimes", "on", nil},
	{"IntervalStyle", "postgres", acceptOneOf("postgres", "postgres_verbose", "sql_standard", "iso_8601")},
	{"is_superuser", "off", nil},
	{"jit", "off", acceptSwitch},
	{"lc_collate", "C.UTF-8", nil},
	{"lc_ctype", "C.UTF-8", nil},
	{"lc_messages", "C", acceptAny},
	{"lc_monetary", "C", acceptAny},
	{"lc_numeric", "C", acceptAny},
	{"lc_time", "C", acceptAny},
	{"lock_timeout", "0", acceptDuration},
	{"max_identifier_length", "63", nil},
	{"max_index_keys", "32", nil},
	{"quote_all_identifiers", "off", acceptSwitch},
	{"role", "none", acceptOneOf("none")},
	{"row_security", "on", acceptSwitch},
	{"search_path", `"$user", public`, acceptAny},
	{"server_encoding", "UTF8", nil},
	{"server_version", "", nil},
	{"server_version_num", "150000", nil},
	{"session_authorization", "", nil},
	{"standard_conforming_strings", "on", acceptOneOf("on")},
	{"statement_timeout", "0", acceptDuration},
	{"synchronize_seqscans", "on", acceptSwitch},
	{"synchronous_commit", "on", acceptAny},
	{"TimeZone", "UTC", acceptUTC},
	{"transaction_deferrable", "off", acceptSwitch},
	{"transaction_isolation", "read committed", acceptIsolation},
	{"transaction_read_only", "off", acceptSwitch},
	{"work_mem", "4MB", acceptAny},
	{"xmloption", "content", acceptOneOf("content", "document")},
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
	i := slices.IndexFunc(knownSettings, func(s setting) bool { return strings.EqualFold(s.name, name) })
	if i < 0 {
		return setting{}, false
	}
	return knownSettings[i], true
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

// acceptSwitch takes what PostgreSQL takes, but for abbreviations.
func acceptSwitch(text string) (string, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes", "1", "t", "y":
		return "on", nil
	case "off", "false", "no", "0", "f", "n":
		return "off", nil
	}
	return "", fmt.Errorf("it must be on or off")
}

func acceptNumber(lo, hi int) func(string) (string, error) {
	return func(text string) (string, error) {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < lo || n > hi {
			return "", fmt.Errorf("it must be a whole number from %d to %d", lo, hi)
		}
		return strconv.Itoa(n), nil
	}
}

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

// acceptDuration is in milliseconds unless it has a unit, and is kept in milliseconds.
func acceptDuration(text string) (string, error) {
	text = strings.TrimSpace(text)
	digits := strings.TrimLeft(text, "0123456789")
	n, err := strconv.ParseInt(text[:len(text)-len(digits)], 10, 32)
	unit, ok := map[string]time.Duration{"": time.Millisecond, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second,
		"min": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[strings.TrimSpace(digits)]
	if err != nil || !ok || time.Duration(n) > (1<<31-1)*time.Millisecond/unit {
		return "", fmt.Errorf("it must be a time, such as 500ms, 30s or 5min; 0 means none")
	}
	ms := (time.Duration(n)*unit + time.Millisecond - 1) / time.Millisecond
	return strconv.FormatInt(int64(ms), 10), nil
}

// formatMilliseconds is how SHOW writes milliseconds: in the largest unit that has no fraction.
func formatMilliseconds(ms string) string {
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil || n == 0 {
		return ms
	}
	for _, u := range []struct {
		name string
		ms   int64
	}{{"d", 86_400_000}, {"h", 3_600_000}, {"min", 60_000}, {"s", 1000}} {
		if n%u.ms == 0 {
			return strconv.FormatInt(n/u.ms, 10) + u.name
		}
	}
	return ms + "ms"
}
