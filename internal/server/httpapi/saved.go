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
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// What is saved belongs to who made it, and is theirs alone or shared with the analysts of its
// dataset. It holds texts and no answers: who opens it asks, and is told what that would cost. Who
// may not ask about its dataset any more does not see it, whoever made it; to them it is missing,
// as what never was. An owner sees what is shared, and may remove it.

// The kinds of what is saved, and how many of each somebody can have.
const (
	kindQuestion      = "question"
	kindDashboard     = "dashboard"
	maxSavedQuestions = 500
	maxDashboards     = 100
)

// SavedQuestion is a question with how to show its answer.
type SavedQuestion struct {
	Title    string             `json:"title" minLength:"1" maxLength:"200"`
	SQL      string             `json:"sql" minLength:"1" maxLength:"65536" doc:"One SELECT"`
	Settings map[string]decimal `json:"settings,omitempty" maxProperties:"32" doc:"As those of POST /v1/query"`
	Chart    *Chart             `json:"chart,omitempty" doc:"How to show the answer; by default a table"`
}

// Chart is how an answer is drawn, in words of the page.
type Chart struct {
	Kind    string   `json:"kind" pattern:"^[a-z][a-z-]{0,31}$" doc:"The kind of chart, such as table, dots or band"`
	Columns []string `json:"columns,omitempty" maxItems:"64" doc:"The columns of the answer, in the order of their roles in the chart"`
}

type NewSaved struct {
	SavedQuestion
	Dataset string `json:"dataset,omitempty" maxLength:"64" doc:"You can leave it out if you have only one"`
	Shared  bool   `json:"shared,omitempty" doc:"True if everybody who may ask about the dataset can see it"`
}

// About is what is known of everything that is saved.
type About struct {
	ID      string    `json:"id" doc:"Random, so that nobody can guess it"`
	Dataset string    `json:"dataset"`
	Shared  bool      `json:"shared" doc:"True if everybody who may ask about the dataset can see it"`
	Maker   string    `json:"maker" doc:"Who made it and may change it"`
	Mine    bool      `json:"mine" doc:"True if that is you"`
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

type savedHandler struct {
	users      *users.Store
	dispatcher *admission.Dispatcher
}

func (h *savedHandler) register(r *router) {
	o := operation(anyUser, http.MethodPost, "/v1/saved", "save", "Save a question",
		"For yourself, or for everybody who may ask about its dataset. The question is not asked, and saving it costs "+
			"nothing.", http.StatusNotFound,
		http.StatusConflict)
	o.DefaultStatus = http.StatusCreated
	register(r, o, func(ctx context.Context, u users.User, in *savedInput) (*body[Kept], error) {
		s, err := h.newSaved(u, kindQuestion, in.Body.Dataset, in.Body.Shared, in.Body.Title, in.Body.SavedQuestion)
		if err != nil {
			return nil, err
		}
		if err := in.Body.check(); err != nil {
			return nil, err
		}
		s, err = h.users.SavedItems().Add(ctx, s, maxSavedQuestions)
		return bodyOf(Kept{aboutOf(s, u), in.Body.SavedQuestion}), err
	})
	register(r, operation(anyUser, http.MethodGet, "/v1/saved", "saved", "Saved questions",
		"Your own, and those that others share in datasets that you may ask about. An owner sees those that are shared."),
		func(ctx context.Context, u users.User, _ *empty) (*body[SavedList], error) {
			all, err := h.list(ctx, u, kindQuestion)
			return bodyOf(SavedList{all}), err
		})
	register(r, operation(anyUser, http.MethodGet, "/v1/saved/{id}", "saved-question", "A saved question",
		"One that you may not see looks the same as one that does not exist.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *savedPath) (*body[Kept], error) {
			s, err := h.find(ctx, u, kindQuestion, in.ID)
			if err != nil {
				return nil, err
			}
			q, err := decodeSaved[SavedQuestion](s)
			return bodyOf(Kept{aboutOf(s, u), q}), err
		})
	register(r, operation(anyUser, http.MethodPut, "/v1/saved/{id}", "change-saved", "Change a saved question of yours",
		"Replaces all of it: anything you leave out is removed.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *savedChange) (*body[Kept], error) {
			s, err := h.changedSaved(ctx, u, kindQuestion, in.ID, in.Body.Dataset, in.Body.Shared, in.Body.Title, in.Body.SavedQuestion)
			if err != nil {
				return nil, err
			}
			if err := in.Body.check(); err != nil {
				return nil, err
			}
			s, err = h.users.SavedItems().Replace(ctx, s)
			return bodyOf(Kept{aboutOf(s, u), in.Body.SavedQuestion}), missingIfUnsaved(err, kindQuestion)
		})
	register(r, operation(anyUser, http.MethodDelete, "/v1/saved/{id}", "delete-saved", "Delete a saved question of yours",
		"An owner can delete shared ones.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *savedPath) (*empty, error) {
			return nil, h.remove(ctx, u, kindQuestion, in.ID)
		})
	h.registerDashboards(r)
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
	return checkTitle(q.Title)
}

// checkTitle refuses titles that cannot be shown: of nothing, or of what is not printed.
func checkTitle(title string) error {
	if strings.TrimSpace(title) == "" || strings.ContainsFunc(title, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return invalid("the title is empty, or has characters that cannot be shown", "give it a title in one line")
	}
	return nil
}

// newSaved makes what is stored of something new. Its maker may ask about the dataset.
func (h *savedHandler) newSaved(u users.User, kind, dataset string, shared bool, title string, inside any) (s users.Saved, err error) {
	if s.Dataset, err = ChooseDataset(h.dispatcher.DB().Policy(), u, dataset); err != nil {
		return s, err
	}
	if !h.mayAsk(u, s.Dataset) {
		return s, missing("dataset")
	}
	text, err := json.Marshal(inside)
	if err != nil {
		return s, err
	}
	if len(text) > maxSavedBytes {
		return s, invalid("this is longer than 256 KiB", "save less in one piece")
	}
	s.Kind, s.User, s.Shared, s.Title, s.Body = kind, u.Name, shared, title, string(text)
	return s, nil
}

// maxSavedBytes is how many bytes one thing has at most that is saved.
const maxSavedBytes = 256 << 10

// changedSaved makes what is stored in the place of something. Only who made it may change it.
func (h *savedHandler) changedSaved(
	ctx context.Context, u users.User, kind, id, dataset string, shared bool, title string, inside any,
) (users.Saved, error) {
	before, err := h.find(ctx, u, kind, id)
	if err != nil {
		return before, err
	}
	if before.User != u.Name {
		return before, &Problem{Status: http.StatusForbidden, Kind: "role", Detail: "somebody else made this and shares it",
			Instead: "save your own copy", Spent: no}
	}
	s, err := h.newSaved(u, kind, dataset, shared, title, inside)
	s.ID, s.Created = before.ID, before.Created
	return s, err
}

// mayAsk reports whether somebody may ask about a dataset today.
func (h *savedHandler) mayAsk(u users.User, dataset string) bool {
	ds := h.dispatcher.DB().Policy().Datasets[dataset]
	if ds == nil || ds.Analysts[u.Name] == nil {
		return false
	}
	until := ds.Analysts[u.Name].Expires
	return until.IsZero() || time.Now().Before(until)
}

// maySee reports whether something that is saved is for somebody's eyes.
func (h *savedHandler) maySee(u users.User, s users.Saved) bool {
	if u.Role == users.Owner && s.Shared {
		return true
	}
	return h.mayAsk(u, s.Dataset) && (s.Shared || s.User == u.Name)
}

// find finds something that somebody may see.
func (h *savedHandler) find(ctx context.Context, u users.User, kind, id string) (users.Saved, error) {
	s, err := h.users.SavedItems().Find(ctx, kind, id)
	if err == nil && !h.maySee(u, s) {
		err = users.ErrNoSaved
	}
	return s, missingIfUnsaved(err, kind)
}

// missingIfUnsaved says that something is missing, where that is so.
func missingIfUnsaved(err error, kind string) error {
	if errors.Is(err, users.ErrNoSaved) {
		return missing(kind)
	}
	return err
}

func (h *savedHandler) list(ctx context.Context, u users.User, kind string) ([]Titled, error) {
	all, err := h.users.SavedItems().ByUser(ctx, kind, u.Name)
	if err != nil {
		return nil, err
	}
	for _, dataset := range visibleDatasets(h.dispatcher.DB().Policy(), u) {
		shared, err := h.users.SavedItems().SharedIn(ctx, kind, dataset)
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(shared, func(s users.Saved) bool { return s.User == u.Name })...)
	}
	out := []Titled{}
	for _, s := range all {
		if h.maySee(u, s) {
			out = append(out, Titled{aboutOf(s, u), s.Title})
		}
	}
	return out, nil
}

// remove removes something: one's own, or, for an owner, what is shared.
func (h *savedHandler) remove(ctx context.Context, u users.User, kind, id string) error {
	s, err := h.find(ctx, u, kind, id)
	if err != nil {
		return err
	}
	if s.User != u.Name && u.Role != users.Owner {
		return &Problem{Status: http.StatusForbidden, Kind: "role", Detail: "somebody else made this and shares it", Spent: no}
	}
	return missingIfUnsaved(h.users.SavedItems().Remove(ctx, kind, id), kind)
}

func aboutOf(s users.Saved, u users.User) About {
	return About{s.ID, s.Dataset, s.Shared, s.User, s.User == u.Name, s.Created.UTC(), s.Changed.UTC()}
}

func decodeSaved[T any](s users.Saved) (v T, err error) {
	err = json.Unmarshal([]byte(s.Body), &v)
	return v, err
}

// Tile is a place on a dashboard, with a question that is saved elsewhere or with one of its own.
type Tile struct {
	Saved    string         `json:"saved,omitempty" maxLength:"64" doc:"The id of a saved question about the same dataset"`
	Question *SavedQuestion `json:"question,omitempty" doc:"A question of its own. Answers have it for saved questions too, as they are now; if you send saved, it is ignored"`
	Missing  bool           `json:"missing,omitempty" doc:"In answers: true if the saved question is gone, or you may not see it"`
	Place    Place          `json:"place,omitzero" doc:"Its position"`
}

// Place is where a tile is on a grid of 12 columns.
type Place struct {
	X      int `json:"x" minimum:"0" maximum:"11"`
	Y      int `json:"y" minimum:"0" maximum:"999"`
	Width  int `json:"width" minimum:"1" maximum:"12"`
	Height int `json:"height" minimum:"1" maximum:"100"`
}

// Tiles are what is on a dashboard.
type Tiles struct {
	Tiles []Tile `json:"tiles" maxItems:"50"`
}

type NewDashboard struct {
	Title   string `json:"title" minLength:"1" maxLength:"200"`
	Dataset string `json:"dataset,omitempty" maxLength:"64" doc:"You can leave it out if you have only one"`
	Shared  bool   `json:"shared,omitempty" doc:"True if everybody who may ask about the dataset can see it"`
	Tiles
}

type Dashboard struct {
	Titled
	Tiles
}

// Dashboards are several, as [SavedList] has questions.
type Dashboards struct {
	Dashboards []Titled `json:"dashboards"`
}

type dashboardInput struct{ Body NewDashboard }

type dashboardChange struct {
	ID   string `path:"id" maxLength:"64"`
	Body NewDashboard
}

func (h *savedHandler) registerDashboards(r *router) {
	o := operation(anyUser, http.MethodPost, "/v1/dashboards", "make-dashboard", "Make a dashboard",
		"A page of questions, for yourself or for everybody who may ask about its dataset. Nothing is asked, and it costs nothing: the "+
			"page asks with free when somebody opens it, and says what a refresh would cost.", http.StatusNotFound, http.StatusConflict)
	o.DefaultStatus = http.StatusCreated
	register(r, o, func(ctx context.Context, u users.User, in *dashboardInput) (*body[Dashboard], error) {
		s, err := h.newSaved(u, kindDashboard, in.Body.Dataset, in.Body.Shared, in.Body.Title, in.Body.stored())
		if err != nil {
			return nil, err
		}
		if err := h.checkTiles(ctx, u, s, in.Body); err != nil {
			return nil, err
		}
		if s, err = h.users.SavedItems().Add(ctx, s, maxDashboards); err != nil {
			return nil, err
		}
		return h.withQuestions(ctx, u, s)
	})
	register(r, operation(anyUser, http.MethodGet, "/v1/dashboards", "dashboards", "Dashboards",
		"Your own, and those that others share in datasets that you may ask about. An owner sees those that are shared."),
		func(ctx context.Context, u users.User, _ *empty) (*body[Dashboards], error) {
			all, err := h.list(ctx, u, kindDashboard)
			return bodyOf(Dashboards{all}), err
		})
	register(r, operation(anyUser, http.MethodGet, "/v1/dashboards/{id}", "dashboard", "A dashboard",
		"With its questions as they are now. One that you may not see looks the same as one that does not exist.",
		http.StatusNotFound),
		func(ctx context.Context, u users.User, in *savedPath) (*body[Dashboard], error) {
			s, err := h.find(ctx, u, kindDashboard, in.ID)
			if err != nil {
				return nil, err
			}
			return h.withQuestions(ctx, u, s)
		})
	register(r, operation(anyUser, http.MethodPut, "/v1/dashboards/{id}", "change-dashboard", "Change a dashboard of yours",
		"Replaces all of it: anything you leave out is removed.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *dashboardChange) (*body[Dashboard], error) {
			s, err := h.changedSaved(ctx, u, kindDashboard, in.ID, in.Body.Dataset, in.Body.Shared, in.Body.Title, in.Body.stored())
			if err != nil {
				return nil, err
			}
			if err := h.checkTiles(ctx, u, s, in.Body); err != nil {
				return nil, err
			}
			if s, err = h.users.SavedItems().Replace(ctx, s); err != nil {
				return nil, missingIfUnsaved(err, kindDashboard)
			}
			return h.withQuestions(ctx, u, s)
		})
	register(r, operation(anyUser, http.MethodDelete, "/v1/dashboards/{id}", "delete-dashboard", "Delete a dashboard of yours",
		"Its saved questions stay. An owner can delete shared ones.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *savedPath) (*empty, error) {
			return nil, h.remove(ctx, u, kindDashboard, in.ID)
		})
}

// stored are the tiles as they are kept: of a saved question its id, whatever was sent beside it,
// so that what was answered can be sent back.
func (t Tiles) stored() Tiles {
	out := Tiles{make([]Tile, len(t.Tiles))}
	for i, one := range t.Tiles {
		if one.Missing = false; one.Saved != "" {
			one.Question = nil
		}
		out.Tiles[i] = one
	}
	return out
}

// checkTiles checks what is to be on a dashboard: each tile has one question, and those who will
// see the dashboard see it too.
func (h *savedHandler) checkTiles(ctx context.Context, u users.User, s users.Saved, n NewDashboard) error {
	if err := checkTitle(n.Title); err != nil {
		return err
	}
	for _, t := range n.Tiles.Tiles {
		if t.Saved == "" {
			if t.Question == nil {
				return invalid("a tile needs the id of a saved question or a question of its own", "send saved or question")
			}
			if err := t.Question.check(); err != nil {
				return err
			}
			continue
		}
		q, err := h.find(ctx, u, kindQuestion, t.Saved)
		switch {
		case err != nil:
			return err
		case q.Dataset != s.Dataset:
			return invalid("a saved question is about a different dataset from the dashboard", "put it on a dashboard of that dataset")
		case s.Shared && !q.Shared:
			return invalid("the dashboard is shared, but a saved question on it is not",
				"share the question too, or put a copy of it in the tile")
		}
	}
	return nil
}

// withQuestions shows a dashboard with its questions.
func (h *savedHandler) withQuestions(ctx context.Context, u users.User, s users.Saved) (*body[Dashboard], error) {
	tiles, err := decodeSaved[Tiles](s)
	if err != nil {
		return nil, err
	}
	tiles.Tiles = append([]Tile{}, tiles.Tiles...)
	for i := range tiles.Tiles {
		t := &tiles.Tiles[i]
		if t.Saved == "" {
			continue
		}
		q, err := h.users.SavedItems().Find(ctx, kindQuestion, t.Saved)
		if err != nil && !errors.Is(err, users.ErrNoSaved) {
			return nil, err
		}
		if t.Missing = err != nil || q.Dataset != s.Dataset || !h.maySee(u, q); t.Missing {
			continue
		}
		question, err := decodeSaved[SavedQuestion](q)
		if err != nil {
			return nil, err
		}
		t.Question = &question
	}
	return bodyOf(Dashboard{Titled{aboutOf(s, u), s.Title}, tiles}), nil
}
