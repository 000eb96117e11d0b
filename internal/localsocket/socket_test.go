package localsocket

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestOnlyTheTokenComesIn(t *testing.T) {
	d, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	token := NewToken()
	if len(token) != 64 || token == NewToken() {
		t.Errorf("the token is %q", token)
	}
	go http.Serve(d, RequireToken(token, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "in") })))
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial(d.Addr().Network(), d.Addr().String())
	}}}
	for given, want := range map[string]int{"Bearer " + token: 200, "Bearer " + token[1:]: 401, "Bearer ": 401, "": 401,
		"Basic " + token: 401, token: 401} {
		request, _ := http.NewRequest(http.MethodGet, "http://socket/", nil)
		if given != "" {
			request.Header.Set("Authorization", given)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%q: %d, want %d", given, answer.StatusCode, want)
		}
	}
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(d.Folder); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the folder: %v, %v", info.Mode(), err)
		}
		if !strings.HasPrefix(d.Address(), "unix:"+d.Folder) {
			t.Errorf("the address is %s", d.Address())
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.Folder); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// Where the name of the folder is too long for a socket another one is taken, and no port, which
// others on this machine can knock at.
func TestLongNames(t *testing.T) {
	long := t.TempDir() + "/" + strings.Repeat("x", 120)
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	t.Setenv("TMP", long)
	d, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	want := "unix:/tmp/"
	if runtime.GOOS == "windows" {
		want = "http://127.0.0.1:"
	}
	if !strings.HasPrefix(d.Address(), want) {
		t.Errorf("the address is %s", d.Address())
	}
	left, err := os.ReadDir(long)
	if err != nil || runtime.GOOS != "windows" && len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A port is for where there are no sockets.
func TestPort(t *testing.T) {
	d, err := listenIn("", "tcp")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.Address(), "http://127.0.0.1:") {
		t.Errorf("the address is %s", d.Address())
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.Folder); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestWhileOpen(t *testing.T) {
	in, out := io.Pipe()
	ctx, cancel := WhileOpen(t.Context(), in)
	defer cancel()
	out.Write([]byte("still there"))
	if ctx.Err() != nil {
		t.Error("it ended too early")
	}
	out.Close()
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}
