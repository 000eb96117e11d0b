package plan_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
)

// What was read of a text is kept for whoever asks it next, so to plan it changes nothing of it.
func TestPlanningChangesNoText(t *testing.T) {
	ds := hospital(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		for _, c := range readCases(t, file)[1:] {
			sql, _, _ := strings.Cut(c, "----\n")
			text := syntax.Open(strings.TrimSuffix(sql, "\n"), nil)
			read, err := text.Select()
			if err != nil {
				continue
			}
			before := proto.Clone(read)
			plan.AsksHoldout(text)
			text.At(time.Now())
			_, _ = plan.PrepareText(ds, text, plan.Options{Public: tables{}})
			if !proto.Equal(before, read) {
				t.Errorf("%s: its tree was changed", sql)
			}
		}
	}
}
