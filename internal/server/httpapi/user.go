package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Over HTTP the people of an owner are the analysts. Owners are added, given passwords and revoked
// on the machine itself, by 'discreet user': who has stolen an owner's password can neither make
// another owner of themselves nor keep the others out. What an analyst may ask and spend is the
// policy's, and nothing here changes it.

// Access is what the policy lets a user ask.
type Access struct {
	Dataset string   `json:"dataset"`
	Groups  []string `json:"groups" doc:"The groups whose quotas they share"`
	Expires string   `json:"expires,omitempty" doc:"The first day, in UTC, on which they may not ask any more"`
}

// accessOf is what the policy says about a name, by dataset.
func (d *door) accessOf(name string) []Access {
	out := []Access{}
	p := d.Dispatcher.DB().Policy()
	for _, dataset := range p.Names() {
		ds := p.Datasets[dataset]
		if a := ds.Analysts[name]; a != nil {
			out = append(out, Access{dataset, append([]string{}, ds.GroupsOf(name)...), books.LastDay(a)})
		}
	}
	return out
}

// NewUser is somebody to let in.
type NewUser struct {
	Name string `json:"name" minLength:"1" maxLength:"64" doc:"That of the analyst in the policy: one whom it does not list can come in, and ask nothing"`
}

// Password is what somebody comes in with, which is shown once.
type Password struct {
	Name     string   `json:"name"`
	Password string   `json:"password" doc:"It was drawn, and is stored nowhere: only what can check it is"`
	Access   []Access `json:"access" doc:"What the policy lets them ask; nothing, where no dataset lists them"`
}

type newUserInput struct{ Body NewUser }

type userPath struct {
	Name string `path:"name" maxLength:"256"`
}

type userTokenInput struct {
	Name string `path:"name" maxLength:"256"`
	Body struct {
		Label   string    `json:"label" minLength:"1" maxLength:"100" doc:"What it is for"`
		Expires time.Time `json:"expires,omitzero" doc:"When it stops to count; never where it is left out"`
	}
}

func (d *door) userChanges() {
	o := operation(ownerOnly, http.MethodPost, "/v1/users", "add-user", "Let an analyst in",
		"For the owner. Draws a password and shows it this once. What they may ask is what the policy lets the analyst of this name ask. "+
			"Owners are added with 'discreet user add', on the machine.", http.StatusConflict)
	o.DefaultStatus = http.StatusCreated
	register(d, o, func(ctx context.Context, u users.User, in *newUserInput) (*body[Password], error) {
		drawn, err := d.Users.Add(ctx, in.Body.Name, users.Analyst, "")
		if err != nil {
			return nil, err
		}
		d.changed(ctx, u, "added", in.Body.Name)
		return of(Password{in.Body.Name, drawn, d.accessOf(in.Body.Name)}), nil
	})
	o = operation(ownerOnly, http.MethodPost, "/v1/users/{name}/password", "new-password", "Give an analyst a new password",
		"For the owner. Draws it and shows it this once. Who is in with the old one is out, and who was revoked may come in again; tokens "+
			"that were revoked stay so.", http.StatusNotFound)
	o.DefaultStatus = http.StatusCreated
	register(d, o, func(ctx context.Context, u users.User, in *userPath) (*body[Password], error) {
		if err := d.analyst(ctx, in.Name); err != nil {
			return nil, err
		}
		drawn, err := d.Users.SetPassword(ctx, in.Name, "")
		if err != nil {
			return nil, err
		}
		d.changed(ctx, u, "password", in.Name)
		return of(Password{in.Name, drawn, d.accessOf(in.Name)}), nil
	})
	register(d, operation(ownerOnly, http.MethodDelete, "/v1/users/{name}", "revoke-user", "Keep an analyst out",
		"For the owner. At once, with open connections and all tokens. What they asked and paid stays in the ledger, and a new password "+
			"lets them in again.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *userPath) (*nothing, error) {
			if err := d.analyst(ctx, in.Name); err != nil {
				return nil, err
			}
			err := d.Users.Revoke(ctx, in.Name)
			if errors.Is(err, users.ErrRevoked) {
				return nil, nil // which is what was wanted
			}
			if err == nil {
				d.changed(ctx, u, "revoked", in.Name)
			}
			return nil, err
		})
	o = operation(ownerOnly, http.MethodPost, "/v1/users/{name}/tokens", "make-user-token", "Make a token for an analyst",
		"For the owner. The answer has the secret, which nobody can see again.", http.StatusNotFound, http.StatusConflict)
	o.DefaultStatus = http.StatusCreated
	register(d, o, func(ctx context.Context, u users.User, in *userTokenInput) (*newTokenAnswer, error) {
		if err := d.analyst(ctx, in.Name); err != nil {
			return nil, err
		}
		made, err := d.newToken(ctx, in.Name, in.Body.Label, in.Body.Expires)
		if err == nil {
			d.changed(ctx, u, "token", in.Name)
		}
		return made, err
	})
}

// analyst returns a problem unless somebody is an analyst: an owner is no analyst here, whatever
// the policy says.
func (d *door) analyst(ctx context.Context, name string) error {
	all, err := d.Users.List(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(u users.User) bool { return u.Name == name })
	if i < 0 {
		return missing("user")
	}
	if all[i].Role != users.Analyst {
		return &Problem{Status: http.StatusForbidden, Kind: "role", Detail: "this user is an owner",
			Instead: "'discreet user' changes owners, on the machine of the server"}
	}
	return nil
}

// changed writes into the log who changed whom.
func (d *door) changed(ctx context.Context, by users.User, what, name string) {
	d.Log.LogAttrs(ctx, slog.LevelInfo, "user", slog.String("request", note(ctx).id), slog.String("what", what),
		slog.String("name", name), slog.String("by", by.Name))
}
