package server

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is a pair of files that can be renewed while the server runs.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	seen    [2]mark
	checked time.Time
}

// mark is by what a changed file is known.
type mark struct {
	modified time.Time
	size     int64
}

// recheck is how often the files are looked at, at most.
const recheck = time.Second

func openCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log}
	return c, c.reload()
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return c.current(), nil
	}}
}

// current returns the pair, after a look at the files.
func (c *certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.checked) >= recheck {
		c.checked = time.Now()
		if c.marks() != c.seen {
			if err := c.load(); err != nil {
				c.log.Error("the renewed certificate cannot be used; the server keeps the last one", "error", err)
			} else {
				c.log.Info("the certificate was renewed", "file", c.cert)
			}
		}
	}
	return c.pair
}

// reload reads the files whether they seem to have changed or not.
func (c *certificate) reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.load()
}

// load reads the files. The marks are taken before, so that a change while they are read is seen
// next time.
func (c *certificate) load() error {
	c.checked, c.seen = time.Now(), c.marks()
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("the certificate %s and the key %s cannot be used together: %w", c.cert, c.key, err)
	}
	c.pair = &pair
	return nil
}

func (c *certificate) marks() (m [2]mark) {
	for i, path := range []string{c.cert, c.key} {
		if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeDir == 0 {
			m[i] = mark{info.ModTime(), info.Size()}
		}
	}
	return m
}
