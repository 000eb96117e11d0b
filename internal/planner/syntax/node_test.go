package syntax

import (
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Where a message of the grammar is one of several, nothing else in it has anything below it:
// eachMessage relies on that.
func TestChoicesStandAlone(t *testing.T) {
	messages := (&pg.Node{}).ProtoReflect().Descriptor().ParentFile().Messages()
	choices := 0
	for i := range messages.Len() {
		m := messages.Get(i)
		if m.Oneofs().Len() == 0 {
			continue
		}
		choices++
		for j := range m.Fields().Len() {
			if f := m.Fields().Get(j); m.Oneofs().Len() > 1 || f.ContainingOneof() == nil && f.Message() != nil {
				t.Errorf("%s has %s beside a choice", m.Name(), f.Name())
			}
		}
	}
	if choices == 0 {
		t.Error("there is no choice in the grammar")
	}
}
