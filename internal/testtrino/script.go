package testtrino

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// script is the path of deploy/trino/cluster in the tree that this package was compiled from.
func script() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "deploy", "trino", "cluster")
}

// brokenError says that a cluster that should be there is not, which is no reason to skip a test.
type brokenError struct{ what, why string }

func (e *brokenError) Error() string { return e.what + ": " + e.why }

// checkReady says what a cluster lacks.
func checkReady() error {
	if _, err := exec.LookPath("flock"); err != nil {
		return errors.New("there is no flock, of the package util-linux")
	}
	out, err := exec.Command(script(), "ready").CombinedOutput()
	if err != nil {
		return errors.New(strings.TrimSpace(string(out)))
	}
	return nil
}

// skipOrFail skips a test that lacks a cluster, or fails it.
func skipOrFail(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var broken *brokenError
	if os.Getenv("DISCREET_NEED_TRINO") != "" || errors.As(err, &broken) {
		t.Fatal(err)
	}
	t.Skipf("NOT TESTED ON TRINO: %v.\nTo test it, run deploy/trino/cluster fetch once (800 MB), or set DISCREET_TRINO "+
		"to the address of what deploy/trino/cluster start has started, such as http://127.0.0.1:18080.", err)
}

// sharedFolder is where the cluster is that tests share.
func sharedFolder() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = os.TempDir()
	}
	return filepath.Join(folder, "discreet")
}
