package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// Me is the one who asks.
type Me struct {
	Name     string   `json:"name"`
	Role     string   `json:"role" enum:"owner,analyst"`
	Datasets []string `json:"datasets" doc:"The datasets that you may ask questions about"`
}

func (d *door) me() {
	register(d, operation(anyUser, http.MethodGet, "/v1/me", "me", "Who you are", "Your name, your role and what you may ask about."),
		func(_ context.Context, u users.User, _ *nothing) (*body[Me], error) {
			return of(d.meOf(u)), nil
		})
}

func (d *door) meOf(u users.User) Me {
	return Me{u.Name, string(u.Role), Asked(d.Dispatcher.DB().Policy(), u)}
}

// when writes a time; nil where there is none.
func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}
