package publictime_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/audit/sample"
	"github.com/discreet-dp/discreet/internal/publictime"
)

// clustered is the cluster that the constants are of.
var clustered = publictime.Machine{Factor: 1, Cluster: true, SQL: true}

// TestRecordedCluster compares public times with what Trino said once that its processors worked:
// nothing took more than a quarter of its public time, so that what makes a question fail, half of
// it, is twice what honest ones need. The tests of package trino write the files (TestTook): sizes,
// and then by question its hash, the work and the time that passed, in microseconds, on two cores
// that were busy with a lot else.
func TestRecordedCluster(t *testing.T) {
	found := 0
	for _, c := range sample.Corpora(t, "../plan/testdata", "trino") {
		paths, _ := filepath.Glob(filepath.Join("testdata", "trino-"+c.Dataset.Name+"-*.txt"))
		for _, path := range paths {
			sizes, took := readClustered(t, path)
			var lines []string
			near, all := 0, 0
			for _, a := range c.Asked {
				name, public := "", time.Duration(0)
				if a.Query != nil {
					name, public = a.Query.Hash()[:16], clustered.Query(a.Query, sizes)
				} else {
					name, public = a.Table.Hash()[:16], clustered.Fetch(a.Table, sizes)
				}
				d, ok := took[name]
				if !ok {
					continue
				}
				delete(took, name) // each is counted once
				all++
				if public <= max(3*d[1], tickOf(sizes)) {
					near++
				}
				line := fmt.Sprintf("%6.2f times: %8.3f s public, %8.3f s worked, %8.3f s passed: %s %d",
					float64(public)/float64(max(d[0], 1)), public.Seconds(), d[0].Seconds(), d[1].Seconds(), a.Of, a.Number)
				if lines = append(lines, line); public < 4*d[0] {
					t.Error(path, line)
				}
			}
			slices.Sort(lines)
			t.Logf("%s: %d questions, of which %d leave within three times what passed, or a tick\n%s", path, all, near,
				strings.Join(lines[:min(len(lines), 10)], "\n"))
			found += all
		}
	}
	if found < 200 {
		t.Errorf("only %d of the measured questions are there; measure them again", found)
	}
}

// readClustered reads what was measured: by hash, what was worked and what passed.
func readClustered(t *testing.T, path string) (sizes publictime.Sizes, took map[string][2]time.Duration) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &sizes) != nil {
		t.Fatalf("%s: no sizes", path)
	}
	took = map[string][2]time.Duration{}
	for lines.Scan() {
		var name string
		var worked, passed int64
		if _, err := fmt.Sscan(lines.Text(), &name, &worked, &passed); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		took[name] = [2]time.Duration{time.Duration(worked) * time.Microsecond, time.Duration(passed) * time.Microsecond}
	}
	return sizes, took
}
