package duckdb

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestWideConstants: a constant is refused, or every row can be computed with it. One
// that fails on the rows that reach it tells which rows there are.
func TestWideConstants(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS "+hostileRows)
	e := open(t, dataset(t, folder, "source: t.duckdb"+hostileKeys))
	accepted, refused := 0, 0
	for _, n := range []string{"1e18", "1e19", "1e30", "1e35", "1e36", "1e37", "1e38", "1e39", "1e60", "1e250", "1e400", "1e-18",
		"1e-30", "1e-35", "1e-36", "1e-39", "1e-250"} {
		for _, spelled := range []string{n, "'" + n + "'", "-" + n, "'-" + n + "'"} {
			for _, condition := range []string{
				"i + N > 0", "i - N > 0", "i * N > 0", "i / N > 0", "i % N > 0", "N / i > 0", "N % i > 0", "j + N > 0", "j * N > 0",
				"d + N > 0", "d * N > 0", "d / N > 0",
				"d / 3.0 - N > 0", "d / 3.0 * N > 0", "d / 3.0 / N > 0", "d / 3.0 > N", "r > N", "j = N", "d IN (1, N)",
				"d / 3.0 IN (1, N)", "d BETWEEN N AND 5",
			} {
				p, err := prepareOne(e.dataset, "SELECT COUNT(*) FROM t WHERE "+strings.ReplaceAll(condition, "N", spelled))
				if err != nil {
					refused++
					continue
				}
				accepted++
				if _, err := e.Run(t.Context(), &p.Query); err != nil {
					t.Errorf("%s with %s: %v", condition, spelled, err)
				}
			}
		}
	}
	if accepted < 200 || refused < 200 {
		t.Errorf("%d accepted and %d refused: this tests little", accepted, refused)
	}
}
