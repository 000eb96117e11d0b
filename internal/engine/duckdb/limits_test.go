package duckdb

import (
	"fmt"
	"path/filepath"
	"testing"
)

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "100B": 100, "64MB": 64_000_000, "64MiB": 64 << 20, "1.5GiB": 3 << 29, "4GB": 4_000_000_000, "2 TB": 2_000_000_000_000,
		"0.5KB": 500,
	} {
		if got, err := ParseMemory(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"4", "4gb", "-1GB", "GB", "1e9B", "4GB; SELECT 1", "9999999999TB", "999999999999999TB", "1.0001GB",
		"80%", " 4GB", "4PB"} {
		if got, err := ParseMemory(text); err == nil {
			t.Errorf("%q is %d bytes", text, got)
		}
	}
}

func TestLimitsAreChecked(t *testing.T) {
	for _, l := range []Limits{{Memory: 1}, {Memory: MinMemory - 1}, {Memory: -1}, {Memory: 1 << 60}, {Threads: -1}, {Threads: 5000}} {
		if _, err := OpenWith(t.Context(), nil, l); err == nil {
			t.Errorf("%+v", l)
		}
	}
}

// TestLimits looks at the settings in every DuckDB of an engine: where questions run, after the
// data has changed too, and where the version query does.
func TestLimits(t *testing.T) {
	path, keys := loaded(t, "SELECT current_setting('threads') || ' ' || current_setting('memory_limit')")
	e, err := OpenWith(t.Context(), dataset(t, filepath.Dir(path), keys), Limits{Memory: 100 << 20, Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const want = "3 100.0 MiB"
	check := func() {
		t.Helper()
		if got := version(t, e).Name; got != want {
			t.Errorf("the version query has %s", got)
		}
		var got string
		if err := e.now.DB.QueryRow("SELECT current_setting('threads') || ' ' || " +
			"current_setting('memory_limit')").Scan(&got); err != nil || got != want {
			t.Errorf("questions have %s, %v", got, err)
		}
		if e.now.memory != 25<<20 {
			t.Errorf("package bound has %d", e.now.memory)
		}
		if _, err := e.now.DB.Exec("SET threads = 8"); err == nil {
			t.Error("the limits can be changed")
		}
		if got := fmt.Sprint(ask(t, e, "SELECT COUNT(*), SUM(i) FROM t")); got != "[[2] [3]]" {
			t.Error(got)
		}
	}
	check()
	before := e.now
	if err := e.reload(t); err != nil {
		t.Fatal(err)
	}
	if e.now == before {
		t.Fatal("the data was not opened anew")
	}
	check()
}

// reload has the engine believe that its files have changed.
func (e *Engine) reload(t *testing.T) error {
	e.now.files[0].size++
	_, err := e.Version(t.Context())
	return err
}

// The least that can be asked for is enough for DuckDB to answer.
func TestLeastMemory(t *testing.T) {
	least, err := ParseMemory("64MB")
	if err != nil {
		t.Fatal(err)
	}
	path, keys := loaded(t, "SELECT 1")
	e, err := OpenWith(t.Context(), dataset(t, filepath.Dir(path), keys), Limits{Memory: least, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if got := fmt.Sprint(ask(t, e, "SELECT COUNT(*), SUM(i) FROM t")); got != "[[2] [3]]" {
		t.Error(got)
	}
}
