package architecture

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestConcurrentTests: what begins goroutines, itself or by what it calls, is found; what only asks
// a server is not.
func TestConcurrentTests(t *testing.T) {
	dir := t.TempDir()
	text := `package p
func TestOne(t *testing.T)    { go f() }
func TestLoop(t *testing.T)   { crowd() }
func TestGroup(t *testing.T)  { deep() }
func TestServed(t *testing.T) { serve() }
func TestPlain(t *testing.T)  { f(); for range 3 { serve() } }
func TestMain(m *testing.M)   { go f() }
func crowd() { for range 3 { func() { go f() }() } }
func deep()  { deep(); group() }
func group() { var g sync.WaitGroup; g.Go(f) }
func serve() { go f() }
func f()     {}
`
	if err := os.WriteFile(filepath.Join(dir, "p_test.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ConcurrentTests(dir)
	if want := []string{"TestGroup", "TestLoop", "TestOne"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, not %v", got, err, want)
	}
}
