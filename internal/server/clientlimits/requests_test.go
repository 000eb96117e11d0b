package clientlimits

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Who has the most makes room, those who are known last; and who logs in is not counted.
func TestRequests(t *testing.T) {
	r := &Requests{Most: 4}
	gone := map[string]bool{}
	comes := func(name, address string, familiar bool) *request {
		return r.enter(address, familiar, func() { gone[name] = true })
	}
	honest := comes("honest", "h", false)
	known := comes("known 1", "k", true)
	comes("known 2", "k", true)
	comes("known 3", "k", true)
	comes("a1", "a", false) // nobody has more than another, among strangers: the first that came
	comes("a2", "a", false)
	comes("b1", "b", false)
	if want := map[string]bool{"honest": true, "a1": true, "a2": true}; fmt.Sprint(gone) != fmt.Sprint(want) {
		t.Errorf("gone are %v", gone)
	}
	r.forget(known) // logged in
	comes("c1", "c", false)
	comes("d1", "d", false)
	if gone["known 1"] || gone["known 2"] || !gone["b1"] || r.Count() != 4 || r.TurnedAway() != 4 {
		t.Errorf("%d are here, %d had to go: %v", r.Count(), r.TurnedAway(), gone)
	}
	honest.leave() // which is said of everybody, once
	known.leave()
	late := comes("late", "l", false)
	late.leave()
	if late.cut(); gone["late"] {
		t.Error("a request was reset that is over")
	}
}

// Requests of HTTP/1 are their connections', and those that are over are forgotten.
func TestRequestsAround(t *testing.T) {
	r := &Requests{Most: 4, From: func(*http.Request) (string, bool) { return "here", false }}
	for major, want := range map[int]int{1: 0, 2: 1} {
		q := httptest.NewRequest("GET", "/", nil)
		q.ProtoMajor = major
		seen := -1
		r.Limit(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
			if seen = r.Count(); major == 2 {
				if LoggedIn(q.Context()); r.Count() != 0 {
					t.Error("a user's request is counted as a stranger's")
				}
			}
		})).ServeHTTP(httptest.NewRecorder(), q)
		if seen != want || r.Count() != 0 || len(r.guests.byAddress) != 0 {
			t.Errorf("HTTP/%d: %d, and %d afterwards", major, seen, r.Count())
		}
	}
}
