package discreet_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// schoolPolicy writes two hospitals of a thousand people and their policy.
func schoolPolicy(dir string) (string, error) {
	for _, name := range []string{"data", "other"} {
		if err := hospital.New(1000, 1).Write(filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	const budget = "{epsilon: 100, per_query: {default: 1, max: 50}}"
	text := "datasets:\n" + hospital.Dataset("hospital", "data", budget) + hospital.Dataset("clinic", "other", budget)
	path := filepath.Join(dir, "school.yaml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// elderly asks for a model of who is old, which is easy to learn.
func elderly(epsilon dp.Amount) api.TrainingQuestion {
	q := api.TrainingQuestion{Dataset: "hospital", Analyst: "ana",
		Features: "SELECT age, sex, age >= 55 AS elderly FROM patients", Target: "elderly"}
	q.Spec.Budget.Epsilon = epsilon
	return q
}

func TestTraining(t *testing.T) {
	path, err := schoolPolicy(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	q := elderly(20 * dp.One)
	price, err := db.QuoteTraining(background, q)
	if err != nil || price.Known || price.Pay.Epsilon != 20*dp.One || price.Method == "" || len(price.Why) == 0 || len(price.Lines) == 0 {
		t.Fatalf("%+v, %v", price, err)
	}
	stages := 0
	trained, err := db.Train(background, q, func(api.TrainingProgress) { stages++ })
	if err != nil || trained.Cost.Epsilon != 20*dp.One || trained.Receipt.Free || trained.Model.Receipt.Dataset != "hospital" ||
		stages == 0 {
		t.Fatalf("%+v, %v, %d stages", trained, err, stages)
	}
	for age, want := range map[string]string{"15": "false", "90": "true"} {
		if p, err := trained.Model.Predict(map[string]string{"age": age, "sex": "F"}); err != nil || p.Class != want {
			t.Errorf("%s: %+v, %v", age, p, err)
		}
	}
	q.Analyst = "ben"
	again, err := db.Train(background, q, nil)
	if err != nil || !again.Receipt.Free || again.ID != trained.ID || again.Cost != (dp.Cost{}) {
		t.Fatalf("%+v, %v", again, err)
	}
	elsewhere := elderly(dp.One)
	elsewhere.Dataset, elsewhere.Analyst = "clinic", "ben"
	other, err := db.Train(background, elsewhere, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ask(background, api.Question{Dataset: "hospital", Analyst: "ana", SQL: people}); err != nil {
		t.Fatal(err)
	}
	both := map[string]time.Time{"hospital": {}, "clinic": {}}
	list := func(analyst string, asOf map[string]time.Time, limit int) (ids []string) {
		t.Helper()
		after := int64(-1)
		for {
			all, next, err := db.Models(background, api.ModelsQuestion{AsOf: asOf, Analyst: analyst, After: after, Limit: limit, Reads: 3})
			if err != nil || len(all) > limit {
				t.Fatal(all, err)
			}
			for _, m := range all {
				ids = append(ids, m.ID)
			}
			if next == nil {
				return ids
			}
			after = int64(*next)
		}
	}
	for _, c := range []struct {
		analyst string
		asOf    map[string]time.Time
		want    string
	}{
		{"ana", both, trained.ID}, {"ben", both, other.ID}, {"", both, trained.ID + other.ID},
		{"", map[string]time.Time{"clinic": {}}, other.ID}, {"", nil, ""}, {"eve", both, ""},
		{"ana", map[string]time.Time{"hospital": time.Now().Add(-time.Hour)}, ""},
	} {
		for limit := 1; limit < 3; limit++ {
			got := ""
			for _, id := range list(c.analyst, c.asOf, limit) {
				got += id
			}
			if got != c.want {
				t.Errorf("%s: %s; want %s", c.analyst, got, c.want)
			}
		}
	}
	// By its name everybody of the dataset who knows it has the model, and it is the same text.
	kept, err := db.Model(background, trained.ID, "ben", both)
	if err != nil || kept.Analyst != "ana" || kept.Receipt.Hash != trained.Receipt.Hash {
		t.Fatalf("%+v, %v", kept, err)
	}
	var x, y bytes.Buffer
	if err := errors.Join(kept.Model.Write(&x), trained.Model.Write(&y)); err != nil || x.String() != y.String() {
		t.Errorf("%v: %s\n%s", err, x.String(), y.String())
	}
	for _, c := range []struct {
		id   string
		asOf map[string]time.Time
	}{
		{trained.ID[:len(trained.ID)-1] + "x", both}, {trained.ID + "0", both}, {"", both}, {"99-" + trained.ID, both}, {"0-", both},
		{"1-x", both},
		{trained.ID, map[string]time.Time{"clinic": {}}}, {trained.ID, map[string]time.Time{"hospital": time.Now().Add(-time.Hour)}},
	} {
		if m, err := db.Model(background, c.id, "ana", c.asOf); !errors.Is(err, api.ErrNoModel) || m != nil {
			t.Errorf("%q: %v, %v", c.id, m, err)
		}
	}
	var refused *api.Refusal
	if _, err := db.Model(background, trained.ID, "eve", both); !errors.As(err, &refused) {
		t.Error(err)
	}
	q = elderly(dp.One)
	q.Dataset = ""
	if _, err := db.Train(background, q, nil); !errors.As(err, &refused) {
		t.Error(err)
	}
	if _, err := db.QuoteTraining(background, q); !errors.As(err, &refused) {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// After a restart all of it is there, free.
	db = open(t, path)
	if again, err = db.Train(background, elderly(20*dp.One), nil); err != nil || !again.Receipt.Free || again.ID != trained.ID {
		t.Errorf("%+v, %v", again, err)
	}
	if got := list("ana", both, 5); len(got) != 1 || got[0] != trained.ID {
		t.Error(got)
	}
}
