package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// What is saved belongs to who made it, and is theirs alone or shared with the analysts of its
// dataset. It holds texts and no answers: who opens it asks, and is told what that would cost. Who
// may not ask about its dataset any more does not see it, whoever made it; to them it is missing,
// as what never was. An owner sees what is shared, and may remove it.

// The kinds of what is saved, and how many of each somebody can have.
const (
	kindQuestion  = "question"
	kindDashboard = "dashboard"
	maxQuestions  = 500
	maxDashboards = 100
)

// SavedQuestion is a question with how to show its answer.
type SavedQuestion struct {
	Title    string             `json:"title" minLength:"1" maxLength:"200"`
	SQL      string             `json:"sql" minLength:"1" maxLength:"65536" doc:"One SELECT"`
	Settings map[string]decimal `json:"settings,omitempty" maxProperties:"32" doc:"As those of POST /v1/query"`
	Chart    *Chart             `json:"chart,omitempty" doc:"How to show the answer; a table where it is left out"`
}

// Chart is how an answer is drawn, in words of the page.
type Chart struct {
	Kind    string   `json:"kind" pattern:"^[a-z][a-z-]{0,31}$" doc:"What is drawn, such as table, dots or band"`
	Columns []string `json:"columns,omitempty" maxItems:"64" doc:"Which columns of the answer, in the order of what is drawn of them"`
}

// NewSaved is a question to save.
type NewSaved struct {
	SavedQuestion
	Dataset string `json:"dataset,omitempty" maxLength:"64" doc:"May be left out where you have only one"`
	Shared  bool   `json:"shared,omitempty" doc:"Whether all who may ask about the dataset see it"`
}

// About is what is known of everything that is saved.
type About struct {
	ID      string    `json:"id" doc:"Nobody guesses it"`
	Dataset string    `json:"dataset"`
	Shared  bool      `json:"shared" doc:"Whether all who may ask about the dataset see it"`
	Maker   string    `json:"maker" doc:"Who made it, and may change it"`
	Mine    bool      `json:"mine" doc:"Whether that is you"`
	Created time.Time `json:"created"`
	Changed time.Time `json:"changed"`
}

// Titled is something that is saved, without what is in it.
type Titled struct {
	About
	Title string `json:"title"`
}

// Kept is a question that is saved.
type Kept struct {
	About
	SavedQuestion
}

// SavedList is what one sees of what is saved, the newest change first: one's own, and then what
// others share.
type SavedList struct {
	Saved []Titled `json:"saved"`
}

type savedInput struct{ Body NewSaved }

type savedPath struct {
	ID string `path:"id" maxLength:"64"`
}

type savedChange struct {
	ID   string `path:"id" maxLength:"64"`
	Body NewSaved
}

func (d *door) saved() {
	o := operation(anyUser, http.MethodPost, "/v1/saved", "save", "Save a question",
		"For yourself, or for all who may ask about its dataset. It is not asked, and costs nothing.", http.StatusNotFound,
		http.StatusConflict)
	o.DefaultStatus = http.StatusCreated
	register(d, o, func(ctx context.Context, u users.User, in *savedInput) (*body[Kept], error) {
		s, err := d.toSave(u, kindQuestion, in.Body.Dataset, in.Body.Shared, in.Body.Title, in.Body.SavedQuestion)
		if err != nil {
			return nil, err
		}
		if err := in.Body.check(); err != nil {
			return nil, err
		}
		s, err = d.Users.Save(ctx, s, maxQuestions)
		return of(Kept{aboutOf(s, u), in.Body.SavedQuestion}), err
	})
	register(d, operation(anyUser, http.MethodGet, "/v1/saved", "saved", "Saved questions",
		"Yours, and those that others share in datasets that you may ask about. An owner sees those that are shared."),
		func(ctx context.Context, u users.User, _ *nothing) (*body[SavedList], error) {
			all, err := d.visible(ctx, u, kindQuestion)
			return of(SavedList{all}), err
		})
	register(d, operation(anyUser, http.MethodGet, "/v1/saved/{id}", "saved-question", "A saved question",
		"There is no difference between one that you may not see and one that does not exist.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *savedPath) (*body[Kept], error) {
			s, err := d.see(ctx, u, kindQuestion, in.ID)
			if err != nil {
				return nil, err
			}
			q, err := inside[SavedQuestion](s)
			return of(Kept{aboutOf(s, u), q}), err
		})
	register(d, operation(anyUser, http.MethodPut, "/v1/saved/{id}", "change-saved", "Change a saved question of yours",
		"All of it: what is left out is gone.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *savedChange) (*body[Kept], error) {
			s, err := d.toChange(ctx, u, kindQuestion, in.ID, in.Body.Dataset, in.Body.Shared, in.Body.Title, in.Body.SavedQuestion)
			if err != nil {
				return nil, err
			}
			if err := in.Body.check(); err != nil {
				return nil, err
			}
			s, err = d.Users.Replace(ctx, s)
			return of(Kept{aboutOf(s, u), in.Body.SavedQuestion}), gone(err, kindQuestion)
		})
	register(d, operation(anyUser, http.MethodDelete, "/v1/saved/{id}", "delete-saved", "Delete a saved question of yours",
		"An owner can delete what is shared.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *savedPath) (*nothing, error) {
			return nil, d.drop(ctx, u, kindQuestion, in.ID)
		})
	d.dashboards()
}

// check refuses what could not be asked whatever the policy says.
func (q SavedQuestion) check() error {
	texts := map[string]string{}
	for name, v := range q.Settings {
		texts[name] = string(v)
	}
	if _, err := api.ParseSettings(texts); err != nil {
		return invalid(err.Error(), "")
	}
	return titled(q.Title)
}

// titled refuses titles that cannot be shown: of nothing, or of what is not printed.
func titled(title string) error {
	if strings.TrimSpace(title) == "" || strings.ContainsFunc(title, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return invalid("the title has nothing to show, or what cannot be shown", "give it a title in one line")
	}
	return nil
}

// toSave makes what is stored of something new. Its maker may ask about the dataset.
func (d *door) toSave(u users.User, kind, dataset string, shared bool, title string, inside any) (s users.Saved, err error) {
	if s.Dataset, err = Askable(d.Dispatcher.DB().Policy(), u, dataset); err != nil {
		return s, err
	}
	if !d.member(u, s.Dataset) {
		return s, missing("dataset")
	}
	text, err := json.Marshal(inside)
	if err != nil {
		return s, err
	}
	if len(text) > maxSaved {
		return s, invalid("this is longer than 256 KiB", "save less of it at once")
	}
	s.Kind, s.User, s.Shared, s.Title, s.Body = kind, u.Name, shared, title, string(text)
	return s, nil
}

// maxSaved is how many bytes one thing has at most that is saved.
const maxSaved = 256 << 10

// toChange makes what is stored in the place of something. Only who made it may change it.
func (d *door) toChange(
	ctx context.Context, u users.User, kind, id, dataset string, shared bool, title string, inside any,
) (users.Saved, error) {
	before, err := d.see(ctx, u, kind, id)
	if err != nil {
		return before, err
	}
	if before.User != u.Name {
		return before, &Problem{Status: http.StatusForbidden, Kind: "role", Detail: "somebody else made this, and shares it",
			Instead: "save a copy of your own", Spent: no}
	}
	s, err := d.toSave(u, kind, dataset, shared, title, inside)
	s.ID, s.Created = before.ID, before.Created
	return s, err
}

// member reports whether somebody may ask about a dataset today.
func (d *door) member(u users.User, dataset string) bool {
	ds := d.Dispatcher.DB().Policy().Datasets[dataset]
	if ds == nil || ds.Analysts[u.Name] == nil {
		return false
	}
	until := ds.Analysts[u.Name].Expires
	return until.IsZero() || time.Now().Before(until)
}

// sees reports whether something that is saved is for somebody's eyes.
func (d *door) sees(u users.User, s users.Saved) bool {
	if u.Role == users.Owner && s.Shared {
		return true
	}
	return d.member(u, s.Dataset) && (s.Shared || s.User == u.Name)
}

// see finds something that somebody may see.
func (d *door) see(ctx context.Context, u users.User, kind, id string) (users.Saved, error) {
	s, err := d.Users.Saved(ctx, kind, id)
	if err == nil && !d.sees(u, s) {
		err = users.ErrNoSaved
	}
	return s, gone(err, kind)
}

// gone says that something is missing, where that is so.
func gone(err error, kind string) error {
	if errors.Is(err, users.ErrNoSaved) {
		return missing(kind)
	}
	return err
}

// visible lists what somebody may see.
func (d *door) visible(ctx context.Context, u users.User, kind string) ([]Titled, error) {
	all, err := d.Users.SavedBy(ctx, kind, u.Name)
	if err != nil {
		return nil, err
	}
	for _, dataset := range d.seen(u) {
		shared, err := d.Users.SharedIn(ctx, kind, dataset)
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(shared, func(s users.Saved) bool { return s.User == u.Name })...)
	}
	out := []Titled{}
	for _, s := range all {
		if d.sees(u, s) {
			out = append(out, Titled{aboutOf(s, u), s.Title})
		}
	}
	return out, nil
}

// drop removes something: one's own, or, for an owner, what is shared.
func (d *door) drop(ctx context.Context, u users.User, kind, id string) error {
	s, err := d.see(ctx, u, kind, id)
	if err != nil {
		return err
	}
	if s.User != u.Name && u.Role != users.Owner {
		return &Problem{Status: http.StatusForbidden, Kind: "role", Detail: "somebody else made this, and shares it", Spent: no}
	}
	return gone(d.Users.Drop(ctx, kind, id), kind)
}

func aboutOf(s users.Saved, u users.User) About {
	return About{s.ID, s.Dataset, s.Shared, s.User, s.User == u.Name, s.Created.UTC(), s.Changed.UTC()}
}

// inside reads what was stored.
func inside[T any](s users.Saved) (v T, err error) {
	err = json.Unmarshal([]byte(s.Body), &v)
	return v, err
}
