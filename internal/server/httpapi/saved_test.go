package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

const (
	nasty = `{"title":"<img src=x onerror=alert(1)>","dataset":"hospital","sql":"SELECT COUNT(*) FROM patients",` +
		`"settings":{"dp.epsilon":0.2},"chart":{"kind":"dots","columns":["<b>","count"]}%s}`
	sharedField = `,"shared":true`
)

// TestSaved: a saved question comes back as it was sent, is its maker's until it is shared, and
// then everybody's who may ask about the dataset, to look at.
func TestSaved(t *testing.T) {
	w := newWorld(t)
	made := w.want(w.call("POST", "/v1/saved", "ana", fmt.Sprintf(nasty, "")), 201)
	id := made.get("id").(string)
	if made.get("title") != "<img src=x onerror=alert(1)>" || made.get("chart", "columns", "0") != "<b>" || made.get("mine") != true ||
		made.get("maker") != "ana" || made.get("settings", "dp.epsilon") != "0.2" || len(id) != 32 {
		t.Error(made.body)
	}
	at := "/v1/saved/" + id
	if got := w.want(w.call("GET", at, "ana", ""), 200); got.body != made.body {
		t.Error(got.body, made.body)
	}
	none := w.want(w.call("GET", "/v1/saved/x", "ben", ""), 404)
	for _, who := range []string{"ben", "cy", "olga"} {
		for _, got := range []reply{w.call("GET", at, who, ""), w.call("DELETE", at, who, ""),
			w.call("PUT", at, who, fmt.Sprintf(nasty, ""))} {
			if w.want(got, 404); got.body != none.body {
				t.Error(who, got.body)
			}
		}
		if all := w.want(w.call("GET", "/v1/saved", who, ""), 200); all.body != "{\"saved\":[]}\n" {
			t.Error(who, all.body)
		}
	}
	w.want(w.call("PUT", at, "ana", fmt.Sprintf(nasty, sharedField)), 200)
	for who, status := range map[string]int{"ana": 200, "ben": 200, "olga": 200, "cy": 404} {
		got := w.want(w.call("GET", at, who, ""), status)
		if all := w.want(w.call("GET", "/v1/saved", who, ""), 200); strings.Contains(all.body, id) != (status == 200) ||
			status == 200 && got.get("mine") != (who == "ana") || strings.Contains(all.body, "SELECT") {
			t.Error(who, all.body, got.body)
		}
	}
	for _, got := range []reply{w.call("DELETE", at, "ben", ""), w.call("PUT", at, "ben", fmt.Sprintf(nasty, ""))} {
		if w.want(got, 403); got.get("kind") != "role" {
			t.Error(got.body)
		}
	}
	w.want(w.call("POST", "/v1/saved", "olga", fmt.Sprintf(nasty, "")), 403)
	w.want(w.call("POST", "/v1/saved", "cy", fmt.Sprintf(nasty, "")), 404)
	w.want(w.call("DELETE", at, "olga", ""), 204)
	w.want(w.call("GET", at, "ana", ""), 404)
	w.want(w.call("PUT", at, "ana", fmt.Sprintf(nasty, "")), 404)
	for _, wrong := range []string{
		`{"title":" ","dataset":"hospital","sql":"x"}`, `{"title":"a\u0000","dataset":"hospital","sql":"x"}`,
		`{"title":"a\nb","dataset":"hospital","sql":"x"}`, `{"title":"a","dataset":"hospital","sql":""}`, `{"title":"a","dataset":"hospital"}`,
		`{"title":"a","dataset":"hospital","sql":"x","settings":{"dp.nothing":1}}`,
		`{"title":"a","dataset":"hospital","sql":"x","chart":{"kind":"<svg>"}}`, `{"title":"a","dataset":"hospital","sql":"x","more":1}`,
		`{"title":"` + strings.Repeat("a", 201) + `","dataset":"hospital","sql":"x"}`,
		`{"title":"a","dataset":"hospital","sql":"` + strings.Repeat("a", 65537) + `"}`,
	} {
		w.want(w.call("POST", "/v1/saved", "ana", wrong), 422)
	}
}

// TestDashboard: a dashboard has questions of its own and saved ones, as they are now, for those
// who see both.
func TestDashboard(t *testing.T) {
	w := newWorld(t)
	private := w.want(w.call("POST", "/v1/saved", "ben", fmt.Sprintf(nasty, "")), 201).get("id").(string)
	shared := w.want(w.call("POST", "/v1/saved", "ana", fmt.Sprintf(nasty, sharedField)), 201).get("id").(string)
	elsewhere := w.want(w.call("POST", "/v1/saved", "ben", `{"title":"x","dataset":"clinic","sql":"SELECT 1"}`), 201).get("id").(string)
	board := func(shared bool, tiles string) string {
		return fmt.Sprintf(`{"title":"<script>","dataset":"hospital","shared":%v,"tiles":[%s]}`, shared, tiles)
	}
	own := `{"question":{"title":"a","sql":"SELECT COUNT(*) FROM visits"},"place":{"x":6,"y":0,"width":6,"height":4}}`
	tiles := fmt.Sprintf(`{"saved":%q,"place":{"x":0,"y":0,"width":6,"height":4}},`, shared) + own
	made := w.want(w.call("POST", "/v1/dashboards", "ben", board(true, tiles)), 201)
	at := "/v1/dashboards/" + made.get("id").(string)
	if made.get("tiles", "0", "question", "sql") != "SELECT COUNT(*) FROM patients" || made.get("tiles", "1", "question", "title") != "a" ||
		made.get("maker") != "ben" || number(made, "tiles", "1", "place", "x") != "6" {
		t.Error(made.body)
	}
	for who, status := range map[string]int{"ana": 200, "ben": 200, "olga": 200, "cy": 404} {
		w.want(w.call("GET", at, who, ""), status)
		if all := w.want(w.call("GET", "/v1/dashboards", who, ""), 200); strings.Contains(all.body, "script") != (status == 200) {
			t.Error(who, all.body)
		}
	}
	// What was answered can be sent back, and follows its question.
	_, rest, _ := strings.Cut(made.body, `"tiles":[`)
	back := board(true, strings.TrimSuffix(strings.TrimSpace(rest), "]}"))
	sent := w.want(w.call("PUT", at, "ben", back), 200)
	if sent.get("tiles", "0", "saved") != shared || sent.get("tiles", "1", "saved") != nil {
		t.Error(sent.body)
	}
	changed := strings.Replace(fmt.Sprintf(nasty, sharedField), "SELECT COUNT(*)", "SELECT AVG(age)", 1)
	w.want(w.call("PUT", "/v1/saved/"+shared, "ana", changed), 200)
	if got := w.want(w.call("GET", at, "ben", ""), 200); got.get("tiles", "0", "question", "sql") != "SELECT AVG(age) FROM patients" {
		t.Error(got.body)
	}
	// A question that is not shared any more is missing for the others, and so is one that moved.
	w.want(w.call("PUT", "/v1/saved/"+shared, "ana", fmt.Sprintf(nasty, "")), 200)
	lost := w.want(w.call("GET", at, "ben", ""), 200)
	if lost.get("tiles", "0", "missing") != true || lost.get("tiles", "0", "question") != nil {
		t.Error(lost.body)
	}
	w.want(w.call("PUT", at, "ana", back), 403)
	w.want(w.call("DELETE", at, "ana", ""), 403)
	for body, status := range map[string]int{
		board(true, fmt.Sprintf(`{"saved":%q}`, private)): 422, board(false, fmt.Sprintf(`{"saved":%q}`, elsewhere)): 422,
		board(false, `{"saved":"x"}`): 404, board(false, `{}`): 422, board(false, `{"place":{"x":99,"y":0,"width":1,"height":1}}`): 422,
		board(false, strings.Repeat(own+",", 50)+own): 422, `{"title":" ","dataset":"hospital","tiles":[]}`: 422,
		board(false, fmt.Sprintf(`{"saved":%q}`, private)): 201, board(false, ""): 201,
	} {
		w.want(w.call("POST", "/v1/dashboards", "ben", body), status)
	}
	w.want(w.call("DELETE", at, "ben", ""), 204)
	w.want(w.call("GET", at, "ben", ""), 404)
}

// TestSavedIsLost: who may not ask about a dataset any more sees nothing of it, not even their own.
func TestSavedIsLost(t *testing.T) {
	text := policyText("{epsilon: 10}")
	dir := t.TempDir()
	furnish(t, dir, hospital.New(people, 1), text)
	w := newWorldIn(t, dir)
	var paths []string
	for _, what := range []string{"", sharedField} {
		paths = append(paths, "/v1/saved/"+w.want(w.call("POST", "/v1/saved", "ana", fmt.Sprintf(nasty, what)), 201).get("id").(string))
	}
	made := w.want(w.call("POST", "/v1/dashboards", "ana", `{"title":"b","dataset":"hospital","shared":true,"tiles":[]}`), 201)
	paths = append(paths, "/v1/dashboards/"+made.get("id").(string))
	for _, change := range [][2]string{
		{"{ana: {share: 1}, ben: {share: 0.5}}", "{ana: {share: 1, expires: 2020-01-01}, ben: {share: 0.5}}"},
		{"{ana: {share: 1}, ben: {share: 0.5}}", "{ben: {share: 0.5}}"},
	} {
		w.end()
		other := strings.Replace(text, change[0], change[1], 1)
		if other == text {
			t.Fatal("the policy is the same")
		}
		furnish(t, dir, hospital.New(people, 1), other)
		w = newWorldIn(t, dir)
		for i, path := range paths {
			w.want(w.call("GET", path, "ana", ""), 404)
			w.want(w.call("DELETE", path, "ana", ""), 404)
			w.want(w.call("GET", path, "ben", ""), []int{404, 200, 200}[i])
			w.want(w.call("GET", path, "olga", ""), []int{404, 200, 200}[i])
		}
		for _, path := range []string{"/v1/saved", "/v1/dashboards"} {
			if got := w.want(w.call("GET", path, "ana", ""), 200); !strings.HasSuffix(got.body, ":[]}\n") {
				t.Error(got.body)
			}
		}
	}
}

// TestSavedAreFew: somebody can save so many.
func TestSavedAreFew(t *testing.T) {
	w := newWorld(t)
	for range maxDashboards {
		w.want(w.call("POST", "/v1/dashboards", "ana", `{"title":"b","dataset":"hospital","tiles":[]}`), 201)
	}
	if got := w.want(w.call("POST", "/v1/dashboards", "ana", `{"title":"b","dataset":"hospital","tiles":[]}`), 409); got.get("kind") != "limit" {
		t.Error(got.body)
	}
	w.want(w.call("POST", "/v1/dashboards", "ben", `{"title":"b","dataset":"hospital","tiles":[]}`), 201)
}
