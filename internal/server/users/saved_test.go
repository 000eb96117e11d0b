package users

import (
	"errors"
	"testing"
	"time"
)

// TestSaved: what is saved is there at every server, in the order of its changes, for who asks for
// their own or for what is shared, so many of each kind.
func TestSaved(t *testing.T) {
	f := setUp(t)
	must(t, second(f.Add(ctx, "bob", Analyst, "")))
	other := f.again(t)
	first, err := f.Save(ctx, Saved{Kind: "question", User: "ana", Dataset: "h", Title: "<b>'\"; --", Body: `{"sql":"x"}`}, 2)
	must(t, err)
	f.turn(time.Second)
	later, err := other.Save(ctx, Saved{Kind: "question", User: "ana", Dataset: "h", Title: "two", Body: "{}", Shared: true}, 2)
	must(t, err)
	if len(first.ID) != 32 || first.ID == later.ID {
		t.Error(first.ID, later.ID)
	}
	var full *FullError
	if _, err := f.Save(ctx, Saved{Kind: "question", User: "ana", Dataset: "h"}, 2); !errors.As(err, &full) || full.Most != 2 {
		t.Error(err)
	}
	must(t, second(f.Save(ctx, Saved{Kind: "dashboard", User: "ana", Dataset: "h"}, 2)))
	must(t, second(f.Save(ctx, Saved{Kind: "question", User: "bob", Dataset: "g", Shared: true}, 2)))
	if got, err := other.Saved(ctx, "question", first.ID); err != nil || got != first {
		t.Errorf("%+v, %v", got, err)
	}
	for _, wrong := range []struct{ kind, id string }{{"dashboard", first.ID}, {"question", ""}, {"question", first.ID + "\x00"},
		{"question", "%"}} {
		if _, err := f.Saved(ctx, wrong.kind, wrong.id); !errors.Is(err, ErrNoSaved) {
			t.Error(wrong, err)
		}
	}
	if all, err := f.SavedBy(ctx, "question", "ana"); err != nil || len(all) != 2 || all[0].ID != later.ID || all[1].Body != "" {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := f.SharedIn(ctx, "question", "h"); err != nil || len(all) != 1 || all[0].ID != later.ID {
		t.Errorf("%+v, %v", all, err)
	}
	f.turn(time.Second)
	first.Title, first.Shared, first.Dataset = "changed", true, "g"
	changed, err := other.Replace(ctx, first)
	must(t, err)
	if got, err := f.Saved(ctx, "question", first.ID); err != nil || got != changed || !got.Changed.After(got.Created) {
		t.Errorf("%+v, %v", got, err)
	}
	if all, err := f.SharedIn(ctx, "question", "g"); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	stolen := changed
	stolen.User = "bob"
	if _, err := f.Replace(ctx, stolen); !errors.Is(err, ErrNoSaved) {
		t.Error(err)
	}
	must(t, f.Drop(ctx, "question", first.ID))
	if err := other.Drop(ctx, "question", first.ID); !errors.Is(err, ErrNoSaved) {
		t.Error(err)
	}
}
