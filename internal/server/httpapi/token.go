package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// Token is a token without its secret.
type Token struct {
	ID      string     `json:"id"`
	User    string     `json:"user"`
	Label   string     `json:"label"`
	Created time.Time  `json:"created"`
	Expires *time.Time `json:"expires" doc:"Null where it never does"`
	Revoked *time.Time `json:"revoked" doc:"Null while it counts"`
	Used    *time.Time `json:"used" doc:"About when it was last used"`
}

func tokenOf(t users.Token) Token {
	return Token{t.ID, t.User, t.Label, t.Created.UTC(), when(t.Expires), when(t.Revoked), when(t.Used)}
}

// NewToken is a token with its secret, which is shown once.
type NewToken struct {
	Secret string `json:"secret" doc:"What to send as Authorization: Bearer. It is stored nowhere"`
	Token  Token  `json:"token"`
}

// Tokens are several.
type Tokens struct {
	Tokens []Token `json:"tokens"`
}

type tokenInput struct {
	Body struct {
		Label   string    `json:"label" minLength:"1" maxLength:"100" doc:"What it is for"`
		Expires time.Time `json:"expires,omitzero" doc:"When it stops to count; never where it is left out"`
	}
}

type newTokenAnswer struct{ Body NewToken }

type tokensInput struct {
	User string `query:"user" maxLength:"64" doc:"Only theirs. Analysts see their own, whatever stands here"`
}

type tokenPath struct {
	ID string `path:"id" maxLength:"128"`
}

func (d *door) tokens() {
	o := operation(anyUser, http.MethodPost, "/v1/tokens", "make-token", "Make a token for yourself",
		"The answer has the secret, which nobody can see again.", http.StatusConflict)
	o.DefaultStatus = http.StatusCreated
	register(d, o, func(ctx context.Context, u users.User, in *tokenInput) (*newTokenAnswer, error) {
		return d.newToken(ctx, u.Name, in.Body.Label, in.Body.Expires)
	})
	register(d, operation(anyUser, http.MethodGet, "/v1/tokens", "tokens", "Your tokens", "An owner sees everybody's."),
		func(ctx context.Context, u users.User, in *tokensInput) (*body[Tokens], error) {
			all, err := d.Users.Tokens(ctx, whose(u))
			out := Tokens{[]Token{}}
			for _, t := range all {
				if u.Role == users.Owner && in.User != "" && t.User != in.User {
					continue
				}
				out.Tokens = append(out.Tokens, tokenOf(t))
			}
			return of(out), err
		})
	register(d, operation(anyUser, http.MethodDelete, "/v1/tokens/{id}", "revoke-token", "Revoke a token of yours",
		"It stops to count at once. An owner can revoke everybody's.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *tokenPath) (*nothing, error) {
			all, err := d.Users.Tokens(ctx, whose(u))
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(all, func(t users.Token) bool { return t.ID == in.ID }) {
				return nil, missing("token")
			}
			if err := d.Users.RevokeToken(ctx, in.ID); !errors.Is(err, users.ErrRevoked) { // which is what was wanted
				return nil, err
			}
			return nil, nil
		})
}

// newToken makes a token for somebody.
func (d *door) newToken(ctx context.Context, name, label string, expires time.Time) (*newTokenAnswer, error) {
	all, err := d.Users.Tokens(ctx, name)
	if err != nil {
		return nil, err
	}
	if crowded(all, time.Now()) {
		return nil,
			&Problem{Status: http.StatusConflict, Kind: "limit",
				Detail:  fmt.Sprintf("there are %d tokens that count or are of today", maxTokens),
				Instead: "use one of them, or revoke some and wait for a day", Spent: no}
	}
	secret, t, err := d.Users.NewToken(ctx, name, label, expires)
	return &newTokenAnswer{NewToken{secret, tokenOf(t)}}, err
}

// maxTokens is how many tokens a user can have made for themselves, so that nobody can fill the
// file of users with them: those that count, and those of the last day, whatever became of them.
const maxTokens = 100

func crowded(all []users.Token, now time.Time) bool {
	n := 0
	for _, t := range all {
		counts := t.Revoked.IsZero() && (t.Expires.IsZero() || t.Expires.After(now))
		if counts || now.Sub(t.Created) < 24*time.Hour {
			n++
		}
	}
	return n >= maxTokens
}

// whose returns the name whose things a user sees: their own; everybody's, which is no name, for an
// owner.
func whose(u users.User) string {
	if u.Role == users.Owner {
		return ""
	}
	return u.Name
}
