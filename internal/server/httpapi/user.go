package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/policy"
)

type Person struct {
	Name    string     `json:"name"`
	Role    string     `json:"role" enum:"owner,analyst"`
	Created time.Time  `json:"created"`
	Revoked *time.Time `json:"revoked" doc:"Null unless they were revoked"`
	Access  []Access   `json:"access" doc:"What the policy lets them ask about"`
}

type People struct {
	Users []Person `json:"users"`
}

// Login is an attempt to come in.
type Login struct {
	At       time.Time `json:"at"`
	Name     string    `json:"name"`
	Address  string    `json:"address"`
	Listener string    `json:"door" doc:"wire, http, page or openid"`
	Outcome  string    `json:"outcome" doc:"in, denied, locked, expired or revoked"`
}

type Logins struct {
	Logins []Login `json:"logins"`
}

type loginsInput struct {
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	User  string `query:"user" maxLength:"64" doc:"Only those of this user. An analyst sees only their own, whatever this says"`
}

// userHandler serves users, their tokens and their logins.
type userHandler struct {
	users      *users.Store
	dispatcher *admission.Dispatcher
	log        *slog.Logger
}

func (h *userHandler) register(r *router) {
	h.registerTokens(r)
	h.registerPeople(r)
	h.registerChanges(r)
}

func (h *userHandler) registerPeople(r *router) {
	register(r, operation(ownerOnly, http.MethodGet, "/v1/users", "users", "All users", "For the owner."),
		func(ctx context.Context, _ users.User, _ *empty) (*body[People], error) {
			all, err := h.users.List(ctx)
			policy := h.dispatcher.DB().Policy()
			out := People{[]Person{}}
			for _, u := range all {
				out.Users = append(out.Users, Person{u.Name, string(u.Role), u.Created.UTC(), timeOrNil(u.Revoked),
					accessOf(policy, u.Name)})
			}
			return bodyOf(out), err
		})
	register(r, operation(anyUser, http.MethodGet, "/v1/logins", "logins", "Logins and attempts to log in",
		"Your own attempts; an owner sees everybody's."),
		func(ctx context.Context, u users.User, in *loginsInput) (*body[Logins], error) {
			name := u.Name
			if u.Role == users.Owner {
				name = in.User
			}
			all, err := h.users.Logins(ctx, name, in.Limit)
			out := Logins{[]Login{}}
			for _, l := range all {
				out.Logins = append(out.Logins, Login{l.At.UTC(), l.Name, l.Address, l.Listener, l.Outcome})
			}
			return bodyOf(out), err
		})
}

// Over HTTP the people of an owner are the analysts. Owners are added, given passwords and revoked
// on the machine itself, by 'discreet user': who has stolen an owner's password can neither make
// another owner of themselves nor keep the others out. What an analyst may ask and spend is the
// policy's, and nothing here changes it.

// Access is what the policy lets a user ask.
type Access struct {
	Dataset string   `json:"dataset"`
	Groups  []string `json:"groups" doc:"The groups whose quotas they share"`
	Expires string   `json:"expires,omitempty" doc:"The first day, in UTC, on which they may no longer ask"`
}

// accessOf is what the policy says about a name, by dataset.
func accessOf(p *policy.Policy, name string) []Access {
	out := []Access{}
	for _, dataset := range p.Names() {
		ds := p.Datasets[dataset]
		if a := ds.Analysts[name]; a != nil {
			out = append(out, Access{dataset, append([]string{}, ds.GroupsOf(name)...), budgets.LastDay(a)})
		}
	}
	return out
}

type NewUser struct {
	Name string `json:"name" minLength:"1" maxLength:"64" doc:"The name of the analyst in the policy: an analyst whom it does not list can log in, but ask nothing"`
}

// Password is what somebody comes in with, which is shown once.
type Password struct {
	Name     string   `json:"name"`
	Password string   `json:"password" doc:"A random password. It is not stored; only what can check it is"`
	Access   []Access `json:"access" doc:"What the policy lets them ask about; nothing if no dataset lists them"`
}

type newUserInput struct{ Body NewUser }

type userPath struct {
	Name string `path:"name" maxLength:"256"`
}

type userTokenInput struct {
	Name string `path:"name" maxLength:"256"`
	Body struct {
		Label   string    `json:"label" minLength:"1" maxLength:"100" doc:"What the token is for"`
		Expires time.Time `json:"expires,omitzero" doc:"When it expires; never if you leave it out"`
	}
}

func (h *userHandler) registerChanges(r *router) {
	o := operation(ownerOnly, http.MethodPost, "/v1/users", "add-user", "Add an analyst",
		"For the owner. Makes a random password and shows it only now. The policy says what an analyst of this name may ask. Add owners "+
			"with 'discreet user add', on the server's machine.", http.StatusConflict)
	o.DefaultStatus = http.StatusCreated
	register(r, o, func(ctx context.Context, u users.User, in *newUserInput) (*body[Password], error) {
		drawn, err := h.users.Add(ctx, in.Body.Name, users.Analyst, "")
		if err != nil {
			return nil, err
		}
		h.logChange(ctx, u, "added", in.Body.Name)
		return bodyOf(Password{in.Body.Name, drawn, accessOf(h.dispatcher.DB().Policy(), in.Body.Name)}), nil
	})
	o = operation(ownerOnly, http.MethodPost, "/v1/users/{name}/password", "new-password", "Give an analyst a new password",
		"For the owner. Makes a random password and shows it only now. Anybody logged in with the old one is logged out, and a revoked "+
			"analyst can log in again; revoked tokens stay revoked.", http.StatusNotFound)
	o.DefaultStatus = http.StatusCreated
	register(r, o, func(ctx context.Context, u users.User, in *userPath) (*body[Password], error) {
		if err := h.checkAnalyst(ctx, in.Name); err != nil {
			return nil, err
		}
		drawn, err := h.users.SetPassword(ctx, in.Name, "")
		if err != nil {
			return nil, err
		}
		h.logChange(ctx, u, "password", in.Name)
		return bodyOf(Password{in.Name, drawn, accessOf(h.dispatcher.DB().Policy(), in.Name)}), nil
	})
	register(r, operation(ownerOnly, http.MethodDelete, "/v1/users/{name}", "revoke-user", "Revoke an analyst",
		"For the owner. Takes effect at once, on open connections and all tokens too. What they asked and paid stays in the ledger, and "+
			"a new password lets them in again.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *userPath) (*empty, error) {
			if err := h.checkAnalyst(ctx, in.Name); err != nil {
				return nil, err
			}
			err := h.users.Revoke(ctx, in.Name)
			if errors.Is(err, users.ErrRevoked) {
				return nil, nil // which is what was wanted
			}
			if err == nil {
				h.logChange(ctx, u, "revoked", in.Name)
			}
			return nil, err
		})
	o = operation(ownerOnly, http.MethodPost, "/v1/users/{name}/tokens", "make-user-token", "Make a token for an analyst",
		"For the owner. The answer shows the secret, which nobody can see again.", http.StatusNotFound, http.StatusConflict)
	o.DefaultStatus = http.StatusCreated
	register(r, o, func(ctx context.Context, u users.User, in *userTokenInput) (*newTokenAnswer, error) {
		if err := h.checkAnalyst(ctx, in.Name); err != nil {
			return nil, err
		}
		made, err := h.newToken(ctx, in.Name, in.Body.Label, in.Body.Expires)
		if err == nil {
			h.logChange(ctx, u, "token", in.Name)
		}
		return made, err
	})
}

// checkAnalyst returns a problem unless somebody is an analyst: an owner is no analyst here,
// whatever the policy says.
func (h *userHandler) checkAnalyst(ctx context.Context, name string) error {
	all, err := h.users.List(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(u users.User) bool { return u.Name == name })
	if i < 0 {
		return missing("user")
	}
	if all[i].Role != users.Analyst {
		return &Problem{Status: http.StatusForbidden, Kind: "role", Detail: "this user is an owner",
			Instead: "change owners with 'discreet user', on the server's machine"}
	}
	return nil
}

// logChange writes into the log who changed whom.
func (h *userHandler) logChange(ctx context.Context, by users.User, what, name string) {
	h.log.LogAttrs(ctx, slog.LevelInfo, "user", slog.String("request", infoOf(ctx).id), slog.String("what", what),
		slog.String("name", name), slog.String("by", by.Name))
}

// Token is a token without its secret.
type Token struct {
	ID      string     `json:"id"`
	User    string     `json:"user"`
	Label   string     `json:"label"`
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires" doc:"Null if it never does"`
	Revoked *time.Time `json:"revoked" doc:"Null unless it was revoked"`
	Used    *time.Time `json:"used" doc:"About when it was last used"`
}

func tokenOf(t users.Token) Token {
	return Token{t.ID, t.User, t.Label, t.Created.UTC(), timeOrNil(t.Expires), timeOrNil(t.Revoked), timeOrNil(t.Used)}
}

// NewToken is a token with its secret, which is shown once.
type NewToken struct {
	Secret string `json:"secret" doc:"What to send as Authorization: Bearer. It is not stored"`
	Token  Token  `json:"token"`
}

type Tokens struct {
	Tokens []Token `json:"tokens"`
}

type tokenInput struct {
	Body struct {
		Label   string    `json:"label" minLength:"1" maxLength:"100" doc:"What the token is for"`
		Expires time.Time `json:"expires,omitzero" doc:"When it expires; never if you leave it out"`
	}
}

type newTokenAnswer struct{ Body NewToken }

type tokensInput struct {
	User string `query:"user" maxLength:"64" doc:"Only those of this user. An analyst sees only their own, whatever this says"`
}

type tokenPath struct {
	ID string `path:"id" maxLength:"128"`
}

func (h *userHandler) registerTokens(r *router) {
	o := operation(anyUser, http.MethodPost, "/v1/tokens", "make-token", "Make a token for yourself",
		"The answer shows the secret, which nobody can see again.", http.StatusConflict)
	o.DefaultStatus = http.StatusCreated
	register(r, o, func(ctx context.Context, u users.User, in *tokenInput) (*newTokenAnswer, error) {
		return h.newToken(ctx, u.Name, in.Body.Label, in.Body.Expires)
	})
	register(r, operation(anyUser, http.MethodGet, "/v1/tokens", "tokens", "Your tokens", "An owner sees everybody's."),
		func(ctx context.Context, u users.User, in *tokensInput) (*body[Tokens], error) {
			all, err := h.users.Tokens(ctx, nameFilter(u))
			out := Tokens{[]Token{}}
			for _, t := range all {
				if u.Role == users.Owner && in.User != "" && t.User != in.User {
					continue
				}
				out.Tokens = append(out.Tokens, tokenOf(t))
			}
			return bodyOf(out), err
		})
	register(r, operation(anyUser, http.MethodDelete, "/v1/tokens/{id}", "revoke-token", "Revoke a token of yours",
		"It stops working at once. An owner can revoke everybody's.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *tokenPath) (*empty, error) {
			all, err := h.users.Tokens(ctx, nameFilter(u))
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(all, func(t users.Token) bool { return t.ID == in.ID }) {
				return nil, missing("token")
			}
			if err := h.users.RevokeToken(ctx, in.ID); !errors.Is(err, users.ErrRevoked) { // which is what was wanted
				return nil, err
			}
			return nil, nil
		})
}

func (h *userHandler) newToken(ctx context.Context, name, label string, expires time.Time) (*newTokenAnswer, error) {
	all, err := h.users.Tokens(ctx, name)
	if err != nil {
		return nil, err
	}
	if hasMaxTokens(all, time.Now()) {
		return nil,
			&Problem{Status: http.StatusConflict, Kind: "limit",
				Detail:  fmt.Sprintf("there are %d tokens that are valid or were made today", maxTokens),
				Instead: "use one of them, or revoke some and wait a day", Spent: no}
	}
	secret, t, err := h.users.NewToken(ctx, name, label, expires)
	return &newTokenAnswer{NewToken{secret, tokenOf(t)}}, err
}

// maxTokens is how many tokens a user can have made for themselves, so that nobody can fill the
// file of users with them: those that count, and those of the last day, whatever became of them.
const maxTokens = 100

func hasMaxTokens(all []users.Token, now time.Time) bool {
	n := 0
	for _, t := range all {
		counts := t.Revoked.IsZero() && (t.Expires.IsZero() || t.Expires.After(now))
		if counts || now.Sub(t.Created) < 24*time.Hour {
			n++
		}
	}
	return n >= maxTokens
}

// nameFilter returns the name whose things a user sees: their own; everybody's, which is no name,
// for an owner.
func nameFilter(u users.User) string {
	if u.Role == users.Owner {
		return ""
	}
	return u.Name
}
