package browser

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/cdp"
)

func chromium() (string, error) {
	if named := os.Getenv("DISCREET_CHROMIUM"); named != "" {
		return exec.LookPath(named)
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no Chromium: install it, or name it in DISCREET_CHROMIUM")
}

// pipe speaks to a browser as it wants it: texts that end with a zero. Nobody else can reach a
// browser that has no port, and it ends with the pipe, and so with this process, however that ends.
type pipe struct {
	mu  sync.Mutex
	to  *os.File
	out *bufio.Reader
}

func (p *pipe) Send(data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.to.Write(append(data, 0))
	return err
}

func (p *pipe) Read() ([]byte, error) {
	data, err := p.out.ReadBytes(0)
	return bytes.TrimSuffix(data, []byte{0}), err
}

// running is the one browser of the tests. Each of them has a profile of its own in it.
var running struct {
	once    sync.Once
	browser *rod.Browser
	err     error
	end     func()
}

func TestMain(m *testing.M) {
	flag.Parse()
	// Most of the time they wait for one another: the browser, the server and the test.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	code := m.Run()
	if running.end != nil {
		running.end()
	}
	os.Exit(code)
}

// theBrowser starts the browser where it is not running.
func theBrowser(t testing.TB) *rod.Browser {
	t.Helper()
	path, err := chromium()
	if err != nil {
		if os.Getenv("DISCREET_NEED_CHROMIUM") != "" {
			t.Fatal(err)
		}
		t.Skip("THE PAGE IS NOT TESTED: ", err)
	}
	running.once.Do(func() { running.browser, running.end, running.err = start(path) })
	if running.err != nil {
		t.Fatal(running.err)
	}
	return running.browser
}

func start(path string) (_ *rod.Browser, end func(), err error) {
	home, err := os.MkdirTemp("", "chromium")
	if err != nil {
		return nil, nil, err
	}
	ours, theirs, err := os.Pipe() // what it says
	if err != nil {
		return nil, nil, err
	}
	hears, to, err := os.Pipe() // what it is told
	if err != nil {
		return nil, nil, err
	}
	args := []string{"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + filepath.Join(home, "profile"), "--no-first-run",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-sync", "--disable-background-networking",
		"--disable-component-update", "--disable-default-apps", "--disable-background-timer-throttling",
		"--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows", "--force-color-profile=srgb", "--lang=en-US",
		// Nothing is looked up: whatever goes elsewhere fails, and is seen.
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // it refuses to run as root with one
	}
	c := exec.Command(path, append(args, "about:blank")...)
	c.ExtraFiles = []*os.File{hears, theirs}
	c.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	if err := c.Start(); err != nil {
		return nil, nil, err
	}
	hears.Close()
	theirs.Close()
	end = func() {
		to.Close()
		_ = c.Wait() // whatever it says: it was told to go
		os.RemoveAll(home)
	}
	b := rod.New().Client(cdp.New().Start(&pipe{to: to, out: bufio.NewReaderSize(ours, 1<<16)})).NoDefaultDevice()
	if err := b.Connect(); err != nil {
		end()
		return nil, nil, fmt.Errorf("%s does not start: %w", path, err)
	}
	return b, end, nil
}
