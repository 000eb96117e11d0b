package chain

import (
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// TestDataVersion: versions are numbered in the order in which they come first, by dataset.
func TestDataVersion(t *testing.T) {
	s := begun(t)
	enter := func(dataset, label, state string) {
		t.Helper()
		link := s.link(&ledger.Record{Kind: ledger.KindVersion, Dataset: dataset,
			DataVersion: s.DataVersion(dataset, label, state).String()})[0]
		if err := s.Check(link.Record); err != nil {
			t.Fatal(err)
		}
		s.Apply(link.Record, link.Hash)
	}
	wants := func(dataset, label, state string, number, since uint64) {
		t.Helper()
		if v := s.DataVersion(dataset, label, state); v.Number != number || v.Since != since || len(v.ID) != 32 || v.Label != label {
			t.Errorf("%+v; want %d since %d", v, number, since)
		}
	}
	wants("d", "", "A", 0, 0)
	enter("d", "", "A")
	enter("e", "", "A")
	enter("d", "", "B")
	enter("d", "", "A")
	enter("d", "monday", "C")
	wants("d", "", "A", 1, 8)
	wants("d", "", "B", 2, 8)
	wants("d", "monday", "C", 3, 8)
	wants("d", "", "C", 0, 8)
	wants("d", "", "D", 0, 8)
	wants("e", "", "A", 1, 5)
	wants("e", "", "B", 0, 5)
	if s.DataVersion("d", "", "A").ID == s.DataVersion("e", "", "A").ID ||
		s.DataVersion("d", "", "A").ID == s.DataVersion("d", "", "B").ID {
		t.Error("two versions have one name")
	}
	if ledger.VersionID("one", "d", "A") == ledger.VersionID("two", "d", "A") {
		t.Error("the key does not count")
	}
}
