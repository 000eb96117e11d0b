package users

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTrail(t *testing.T) {
	f := setUp(t)
	must(t, second(login(f.Store, from("ana", home), f.password)))
	denied(t, second(login(f.Store, from("ana", home), "wrong")))
	denied(t, second(login(f.Store, from("bob\n\x1b[2J"+strings.Repeat("x", 1<<16), home), "wrong")))
	e, _ := open1(t, f, from("ana", home))
	e.Close()
	must(t, f.Revoke(ctx, "ana"))
	denied(t, second(f.Password(ctx, from("ana", "192.0.2.9"), f.password)))
	all, err := f.Logins(ctx, "", 10)
	must(t, err)
	var got []string
	for _, l := range all {
		if !l.At.Equal(f.at) || !l.Until.Equal(f.at) || l.Count != 1 || l.Door != "wire" {
			t.Errorf("got %+v", l)
		}
		got = append(got, fmt.Sprintf("%.12s %s %s", l.Name, l.Address, l.Outcome))
		if len(l.Name) > 64 {
			t.Errorf("a name of %d bytes", len(l.Name))
		}
	}
	want := "ana 192.0.2.9 revoked|ana 192.0.2.1 abandoned|bob??[2Jxxxx 192.0.2.1 denied|ana 192.0.2.1 denied|ana 192.0.2.1 in"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if l, err := f.Logins(ctx, "ana", 2); err != nil || len(l) != 2 || l[0].Outcome != "revoked" {
		t.Errorf("got %+v, %v", l, err)
	}
	for _, n := range []int{0, -1} {
		if l, err := f.Logins(ctx, "", n); err != nil || len(l) != 0 {
			t.Errorf("got %+v, %v", l, err)
		}
	}
}

// A flood is a few lines, and a program that uses its token often is one an hour.
func TestTrailIsFolded(t *testing.T) {
	f := setUp(t)
	secret, token, err := f.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	web := Attempt{Address: home, Door: "http"}
	for range 100 {
		must(t, second(f.Token(ctx, web, secret)))
		f.turn(time.Second)
	}
	l, err := f.Logins(ctx, "", 10)
	if err != nil || len(l) != 1 || l[0].Count != 100 || l[0].Name != "ana" || l[0].Token != token.ID ||
		l[0].Until.Sub(l[0].At) != 99*time.Second {
		t.Errorf("got %+v, %v", l, err)
	}
	f.turn(time.Hour)
	must(t, second(f.Token(ctx, web, secret)))
	for i := range 1000 {
		f.trail.add(from(fmt.Sprint("name", i), fmt.Sprintf("2001:db8::%x", i)), outDenied, "")
	}
	l, err = f.Logins(ctx, "", 100)
	if err != nil || len(l) != 2+perHour+1 || l[0].Name != several || l[0].Address != "2001:db8::/64" || l[0].Count != 1000-perHour {
		t.Errorf("%d lines, %+v, %v", len(l), l[0], err)
	}
	// Another process sees it when this one ends.
	f.trail.add(from("name0", "2001:db8::0"), outDenied, "")
	must(t, f.Close())
	if l, err := f.again(t).Logins(ctx, "name0", 1); err != nil || len(l) != 1 || l[0].Count != 2 {
		t.Errorf("got %+v, %v", l, err)
	}
}

// However many lines strangers write, from however many networks, who came in before neither waits
// for them nor gets a new line for each request, which would drive out who else came in.
func TestTrailOfStrangersIsTheirs(t *testing.T) {
	f := setUp(t)
	secret, _, err := f.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	web := Attempt{Address: home, Door: "http"}
	f.trail.good.lines.most, f.trail.bad.lines.most = 10, 10
	for i := range 5 {
		must(t, second(f.Token(ctx, web, secret)))
		for j := range 20 {
			denied(t, second(f.Token(ctx, Attempt{Address: fmt.Sprintf("10.0.%d.%d", i, j), Door: "http"}, "dsc_x")))
		}
	}
	if l, err := f.Logins(ctx, "ana", 10); err != nil || len(l) != 1 || l[0].Count != 5 {
		t.Errorf("got %+v, %v", l, err)
	}
	// One of them is being written, which takes as long as the disk does.
	f.trail.bad.mu.Lock()
	f.trail.writing.Lock()
	defer f.trail.writing.Unlock()
	defer f.trail.bad.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- second(f.Token(ctx, web, secret)) }()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(10 * time.Second):
		t.Error("who came in before waits for a stranger's line")
	}
}

// The trail does not grow for ever, and failures do not drive out who came in.
func TestTrailIsTrimmed(t *testing.T) {
	f := setUp(t)
	must(t, second(login(f.Store, from("ana", home), f.password)))
	for i := range 50 {
		must(t, f.trail.add(from("ana", fmt.Sprint("10.0.0.", i)), outDenied, ""))
	}
	must(t, f.trail.trim(10))
	l, err := f.Logins(ctx, "", 100)
	if err != nil || len(l) != 11 || l[0].Address != "10.0.0.49" || l[9].Address != "10.0.0.40" || l[10].Outcome != "in" {
		t.Errorf("%d lines, %v", len(l), err)
	}
}

// Nobody comes in without a line.
func TestNoLineNoEntry(t *testing.T) {
	f := setUp(t)
	_, err := f.db.Exec("DROP TABLE main.logins")
	must(t, err)
	if u, err := login(f.Store, from("ana", home), f.password); err == nil || u != (User{}) {
		t.Errorf("got %+v, %v", u, err)
	}
	secret, _, err := f.NewToken(ctx, "ana", "", time.Time{})
	must(t, err)
	if u, err := f.Token(ctx, Attempt{}, secret); err == nil || u != (User{}) {
		t.Errorf("got %+v, %v", u, err)
	}
}
