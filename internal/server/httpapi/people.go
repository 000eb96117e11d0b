package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// Person is a user.
type Person struct {
	Name    string     `json:"name"`
	Role    string     `json:"role" enum:"owner,analyst"`
	Created time.Time  `json:"created"`
	Revoked *time.Time `json:"revoked" doc:"Null while they may come in"`
	Access  []Access   `json:"access" doc:"What the policy lets them ask"`
}

// People are the users.
type People struct {
	Users []Person `json:"users"`
}

// Login is an attempt to come in.
type Login struct {
	At      time.Time `json:"at"`
	Name    string    `json:"name"`
	Address string    `json:"address"`
	Door    string    `json:"door" doc:"wire, http, page or openid"`
	Outcome string    `json:"outcome" doc:"in, denied, locked, expired or revoked"`
}

// Logins are attempts, the newest first.
type Logins struct {
	Logins []Login `json:"logins"`
}

type loginsInput struct {
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	User  string `query:"user" maxLength:"64" doc:"Only theirs. Analysts see their own, whatever stands here"`
}

func (d *door) people() {
	register(d, operation(ownerOnly, http.MethodGet, "/v1/users", "users", "All users", "For the owner."),
		func(ctx context.Context, _ users.User, _ *nothing) (*body[People], error) {
			all, err := d.Users.List(ctx)
			out := People{[]Person{}}
			for _, u := range all {
				out.Users = append(out.Users, Person{u.Name, string(u.Role), u.Created.UTC(), when(u.Revoked), d.accessOf(u.Name)})
			}
			return of(out), err
		})
	register(d, operation(anyUser, http.MethodGet, "/v1/logins", "logins", "Who came in, and who tried",
		"Your own attempts; an owner sees everybody's."),
		func(ctx context.Context, u users.User, in *loginsInput) (*body[Logins], error) {
			name := u.Name
			if u.Role == users.Owner {
				name = in.User
			}
			all, err := d.Users.Logins(ctx, name, in.Limit)
			out := Logins{[]Login{}}
			for _, l := range all {
				out.Logins = append(out.Logins, Login{l.At.UTC(), l.Name, l.Address, l.Door, l.Outcome})
			}
			return of(out), err
		})
}
