package testtrino

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Shared returns the cluster that all tests share.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	shared.once.Do(func() { shared.cluster, shared.err = startShared() })
	skipOrFail(t, shared.err)
	return shared.cluster
}

var shared struct {
	once    sync.Once
	cluster *Cluster
	err     error
	life    io.Closer // it may end when this is closed, which the end of the process does
}

func startShared() (*Cluster, error) {
	if address := os.Getenv("DISCREET_TRINO"); address != "" {
		return connectNamed(strings.TrimSuffix(address, "/"))
	}
	if err := checkReady(); err != nil {
		return nil, err
	}
	folder := filepath.Join(sharedFolder(), "trino-tests")
	c := exec.Command(script(), "run", folder, "--discard", "--linger", "60", "--light", "--port", "0")
	address, life, _, err := startCluster(c)
	if err != nil {
		return nil, err
	}
	shared.life = life
	return &Cluster{URL: address, folder: folder}, nil
}

// connectNamed is a cluster that somebody else started. That it does not answer is a failure: somebody
// wanted to have it tested.
func connectNamed(address string) (*Cluster, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" {
		return nil, &brokenError{"DISCREET_TRINO=" + address, "is no address such as http://127.0.0.1:18080"}
	}
	client := http.Client{Timeout: time.Minute}
	r, err := client.Get(address + "/v1/info")
	if err != nil {
		return nil, &brokenError{"DISCREET_TRINO=" + address, err.Error()}
	}
	defer r.Body.Close()
	var info struct{ Starting bool }
	if err := json.NewDecoder(r.Body).Decode(&info); err != nil || r.StatusCode != http.StatusOK || info.Starting {
		return nil, &brokenError{"DISCREET_TRINO=" + address, fmt.Sprintf("is not ready: %s, %v", r.Status, err)}
	}
	return &Cluster{URL: address}, nil
}
