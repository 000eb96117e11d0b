package tools

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// writeData writes the hospital's tables, with the time of each visit and the public table of
// wards beside what the demonstration has.
func writeData(t testing.TB, dir string) {
	t.Helper()
	must(t, hospital.New(200, 1).Write(dir))
	file := filepath.Join(dir, "visits.csv")
	text, err := os.ReadFile(file)
	must(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	must(t, err)
	var b strings.Builder
	b.WriteString("pid,day,arrived,ward,cost\n")
	for i, r := range rows[1:] {
		fmt.Fprintf(&b, "%s,%s,%s %02d:%02d:00,%s,%s\n", r[0], r[1], r[1], i%24, i%60, r[2], r[3])
	}
	for name, text := range map[string]string{"visits": b.String(),
		"wards": "ward,building,beds\nemergency,north,20\ninternal,north,50\nsurgery,south,30\n"} {
		must(t, os.WriteFile(filepath.Join(dir, name+".csv"), []byte(text), 0o644))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func errorOf[T any](_ T, err error) error { return err }
