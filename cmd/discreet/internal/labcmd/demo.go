package labcmd

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2" // the plain, unprotected database that the demonstration compares with

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
)

// DemoCmd tells the story where nothing else is said.
type DemoCmd struct {
	Hospital demoHospitalCmd `cmd:"" default:"withargs" help:"See Discreet at work on a made-up hospital, in under 30 seconds. The default."`
	Shop     demoShopCmd     `cmd:"" help:"Write a made-up wholesaler with joins, as CSV files and a policy."`
	Stream   demoStreamCmd   `cmd:"" help:"Write a made-up clinic with a stream, and thousands of questions to it."`
	Train    demoTrainCmd    `cmd:"" help:"Train on a made-up town: compare what theorems promise with what is observed."`
}

func (DemoCmd) Help() string {
	return demoHospitalCmd{}.Help() + shopExample + streamDemoExample + trainDemoExample
}

type demoHospitalCmd struct {
	Dir  string `help:"Make the hospital in this folder, and keep it." placeholder:"DIR" type:"path"`
	Seed uint64 `help:"Which hospital to make up." default:"1"`
	JSON bool   `help:"Print JSON." name:"json"`
}

func (demoHospitalCmd) Help() string {
	return `Makes up a hospital of 4,000 people, asks it an honest question, attacks it with plain SQL and through
Discreet, asks the same question a hundred times, and spends the budget until nothing is left.

  discreet demo
  discreet demo --dir hospital     keeps the files, so that you can go on asking`
}

// hospitalDemo tells the story. Every step is run; nothing that it prints was prepared.
type hospitalDemo struct {
	ctx   context.Context
	w     io.Writer
	db    *discreet.DB
	plain *sql.DB
	facts map[string]any // what --json prints
}

func (c *demoHospitalCmd) Run(ctx context.Context, s console.Screen) (err error) {
	dir := c.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "discreet-demo-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	d := &hospitalDemo{ctx: ctx, w: s.Out, facts: map[string]any{}}
	if c.JSON {
		d.w = io.Discard
	}
	if err := d.build(dir, c.Seed); err != nil {
		return err
	}
	for _, step := range []func() error{d.askHonestly, d.attack, d.askAgain, d.showRefusals, d.exhaust} {
		if err := step(); err != nil {
			return errors.Join(err, d.close())
		}
	}
	if err := d.close(); err != nil {
		return err
	}
	if err := d.verify(filepath.Join(dir, "policy.ledger")); err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, d.facts)
	}
	if c.Dir != "" {
		fmt.Fprintf(s.Out, "\nThe hospital is in %s. Analyst ben of the dataset 'without' has not asked anything yet:\n  discreet query "+
			"--policy %s --dataset without --as ben 'SELECT ward, COUNT(*) FROM visits GROUP BY ward'\n",
			c.Dir, console.ShellQuote(filepath.Join(c.Dir, "policy.yaml")))
	}
	return nil
}

// build makes two hospitals, with and without one person, and opens them.
func (d *hospitalDemo) build(dir string, seed uint64) (err error) {
	if err := refuseFilledFolder(dir); err != nil {
		return err
	}
	h := hospital.New(4000, seed)
	if err := h.Write(filepath.Join(dir, "with")); err != nil {
		return err
	}
	if err := h.Without(hospital.Target).Write(filepath.Join(dir, "without")); err != nil {
		return err
	}
	policy := "datasets:\n" + hospital.Dataset("hospital", "with", hospital.DemoBudget) + hospital.Dataset("without",
		"without", hospital.DemoBudget)
	path := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(path, []byte(policy), 0o644); err != nil {
		return err
	}
	if d.db, err = discreet.Open(d.ctx, path); err != nil {
		return err
	}
	if d.plain, err = sql.Open("duckdb", ""); err != nil {
		return errors.Join(err, d.db.Close())
	}
	for _, name := range []string{"with", "without"} {
		file := strings.ReplaceAll(filepath.Join(dir, name, "patients.csv"), "'", "''")
		if _, err := d.plain.Exec(`CREATE SCHEMA "` + name + `"; CREATE TABLE "` + name + `".patients AS FROM read_csv('` +
			file + "')"); err != nil {
			return errors.Join(err, d.close())
		}
	}
	d.title("A hospital")
	d.say("Here is a made-up hospital with %d patients and %d visits. Its owner lets analysts ask",
		len(h.Patients), len(h.Visits))
	d.say("questions, and has set a budget: all answers together may cost epsilon 2, and a question costs 0.1")
	d.say("unless the analyst says otherwise. Epsilon bounds what anybody can learn about one person: the")
	d.say("odds of any guess about them grow by a factor of at most e^epsilon, whoever asks and whatever they ask.")
	return nil
}

// refuseFilledFolder refuses a folder with something in it.
func refuseFilledFolder(dir string) error {
	if entries, err := os.ReadDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	} else if len(entries) > 0 {
		return console.Misuse(fmt.Errorf("%s is not empty; name a new folder", dir))
	}
	return nil
}

func (d *hospitalDemo) close() error { return errors.Join(d.plain.Close(), d.db.Close()) }

// askHonestly asks a real question and shows the truth beside it.
func (d *hospitalDemo) askHonestly() error {
	const text = "SELECT diagnosis, COUNT(*), AVG(age) FROM patients WHERE age >= 18 GROUP BY diagnosis"
	d.title("1. An honest question")
	d.sql(text)
	d.say("  (the analyst offers epsilon 0.5, for a sharper answer)")
	a, err := d.db.Ask(d.ctx, api.Question{Dataset: "hospital", Analyst: "ana", SQL: text, Epsilon: dp.One / 2})
	if err != nil {
		return err
	}
	t := &render.Table{Header: []string{"diagnosis", "count", "±95%", "truth", "avg age", "±95%", "truth"},
		Right: []bool{false, true, true, true, true, true, true}}
	inside, total := 0, 0
	for i, row := range a.Rows {
		var count int
		var age float64
		key := row[0].(string)
		if err := d.plain.QueryRow("SELECT count(*), avg(age) FROM \"with\".patients WHERE diagnosis = ? AND age >= 18",
			key).Scan(&count, &age); err != nil {
			return err
		}
		avg := numberOf(row[2])
		t.Add(key, render.Cell(row[1]), render.Number(*a.Errors[i][1]), strconv.Itoa(count), fmt.Sprintf("%.1f", avg),
			fmt.Sprintf("%.1f", *a.Errors[i][2]), fmt.Sprintf("%.1f", age))
		for _, ok := range []bool{math.Abs(numberOf(row[1])-float64(count)) <= *a.Errors[i][1], math.Abs(avg-age) <= *a.Errors[i][2]} {
			total++
			if ok {
				inside++
			}
		}
	}
	t.Write(d.w)
	d.say("%s", render.Price(a))
	d.say("")
	d.say("The answer is useful and says how exact it is: %d of these %d true values are within their error bars", inside, total)
	d.say("(expect 95 %%). Only we can see the true values; the analyst sees the rest.")
	d.facts["honest"] = map[string]any{"answer": a, "inside": inside, "of": total}
	return nil
}

// attack compares two databases that differ in one person.
func (d *hospitalDemo) attack() error {
	const all = "SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV'"
	const others = "SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV' AND zip <> '1003A'"
	d.title("2. The differencing attack")
	d.say("The attacker knows that a neighbour lives in ZIP code 1003A and wants to know whether they have HIV.")
	d.say("Counts of hundreds of people look harmless, but these two differ only in that neighbour:")
	d.sql(all)
	d.sql(others)
	t := &render.Table{Header: []string{"", "first", "second", "difference"}, Right: []bool{false, true, true, true}}
	facts := map[string]any{}
	for _, world := range []struct{ dataset, schema, words string }{
		{"hospital", "with", "the neighbour is in the data"}, {"without", "without", "the neighbour is not in the data"},
	} {
		var counts [2]int
		var noisy, errs [2]float64
		for i, text := range []string{all, others} {
			plain := strings.Replace(text, "patients", `"`+world.schema+`".patients`, 1)
			if err := d.plain.QueryRow(plain).Scan(&counts[i]); err != nil {
				return err
			}
			a, err := d.ask(world.dataset, text)
			if err != nil {
				return err
			}
			noisy[i], errs[i] = numberOf(a.Rows[0][0]), *a.Errors[0][0]
		}
		t.Add("plain SQL, "+world.words, strconv.Itoa(counts[0]), strconv.Itoa(counts[1]), strconv.Itoa(counts[0]-counts[1]))
		t.Add("Discreet,  "+world.words, fmt.Sprintf("%g ±%g", noisy[0], errs[0]), fmt.Sprintf("%g ±%g", noisy[1], errs[1]),
			fmt.Sprintf("%g", noisy[0]-noisy[1]))
		facts[world.schema] = map[string]any{"plain": counts[0] - counts[1], "discreet": noisy[0] - noisy[1]}
	}
	t.Write(d.w)
	sure := math.Exp(0.2) / (1 + math.Exp(0.2))
	d.say("")
	d.say("Plain SQL gives the neighbour away: the difference is 1 with them and 0 without. Through Discreet the")
	d.say("difference is noise either way. The two answers cost epsilon 0.2, so an undecided attacker is then right with")
	d.say("probability at most e^0.2/(1+e^0.2) = %.0f %%, however clever: a coin gives 50 %%.", 100*sure)
	d.facts["attack"] = facts
	return nil
}

func (d *hospitalDemo) askAgain() error {
	d.title("3. The same question, a hundred times")
	spellings := []string{
		"SELECT COUNT(*) FROM patients WHERE smoker AND age >= 40",
		"select count(*)   from patients\nwhere age >= 40 and smoker and 1 = 1",
		"SELECT COUNT(*) FROM patients AS p WHERE 40 <= p.age AND (smoker) AND smoker",
	}
	d.say("If noise were drawn anew each time, it could be averaged away. So:")
	d.sql(spellings[0])
	before, err := d.db.Budget(d.ctx, "hospital")
	if err != nil {
		return err
	}
	seen := map[float64]bool{}
	for i := range 100 {
		a, err := d.ask("hospital", spellings[i%len(spellings)])
		if err != nil {
			return err
		}
		seen[numberOf(a.Rows[0][0])] = true
	}
	after, err := d.db.Budget(d.ctx, "hospital")
	if err != nil {
		return err
	}
	spent := after[0].Spent.Epsilon.Sub(before[0].Spent.Epsilon)
	d.say("asked 100 times in %d spellings: %d answer, epsilon %v spent", len(spellings), len(seen), spent)
	d.say("The first answer was paid for; the others repeat it, free.")
	d.facts["again"] = map[string]any{"asked": 100, "answers": len(seen), "epsilon": spent}
	return nil
}

func (d *hospitalDemo) showRefusals() error {
	d.title("4. Questions that are refused")
	var facts []map[string]string
	for _, text := range []string{
		"SELECT * FROM patients",
		"SELECT pid, COUNT(*) FROM patients GROUP BY pid",
		"SELECT COUNT(*) FROM patients WHERE repeat(zip, 1000000000) = '1003A'",
	} {
		d.sql(text)
		_, err := d.ask("hospital", text)
		var refusal *api.Refusal
		if !errors.As(err, &refusal) {
			return fmt.Errorf("the demonstration expected a refusal and got: %v", err)
		}
		d.say("refused: %v", refusal)
		facts = append(facts, map[string]string{"sql": text, "refused": refusal.Error()})
	}
	d.say("A refusal follows from the text, the policy and the sizes of public tables. It costs nothing and tells nothing.")
	d.facts["refused"] = facts
	return nil
}

func (d *hospitalDemo) exhaust() error {
	d.title("5. The budget runs out")
	d.say("The analyst goes on, one question for every age, at epsilon 0.1 each:")
	answered := 0
	var over *ledger.BudgetError
	for age := 20; age < 100; age++ {
		a, err := d.ask("hospital", fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age = %d", age))
		if errors.As(err, &over) {
			break
		} else if err != nil {
			return err
		}
		answered++
		if answered <= 2 {
			d.say("  age %d: %s people; %s", age, render.Cell(a.Rows[0][0]), render.Price(a))
		}
	}
	if over == nil {
		return errors.New("the demonstration expected the budget to run out")
	}
	d.say("  ...")
	d.say("%d answers, and then: budget exhausted: %v", answered, over)
	accounts, err := d.db.Budget(d.ctx, "hospital")
	if err != nil {
		return err
	}
	fmt.Fprintln(d.w)
	t := &render.Table{Header: []string{"account", "spent", "", "limit"}, Right: []bool{false, true, false, true}}
	for _, a := range accounts {
		t.Add(a.Name, a.Spent.Epsilon.Short(), render.Bar(a.Spent.Epsilon.Float()/a.Limit.Epsilon.Float(), 20), a.Limit.Epsilon.Short())
	}
	t.Write(d.w)
	d.say("")
	d.say("Ana's quota was the whole budget, so nothing is left for Ben either, who could use half of it: the dataset's")
	d.say("budget is a limit for all analysts together. Answers that were paid for can still be repeated, free.")
	d.facts["exhausted"] = map[string]any{"answered": answered, "refusal": over.Error(), "accounts": accounts}
	return nil
}

// verify checks the ledger that the story has written.
func (d *hospitalDemo) verify(path string) error {
	r, err := sqlite.Verify(path)
	if err != nil {
		return err
	}
	d.title("6. The budgets")
	d.say("Every charge was on disk before the data was read, in a chain of hashes that anybody can check:")
	d.say("%d records, %d answers kept, head %s...", r.Records, r.Answers, r.Head[:16])
	d.facts["ledger"] = r
	return nil
}

func (d *hospitalDemo) ask(dataset, text string) (*api.Answer, error) {
	return d.db.Ask(d.ctx, api.Question{Dataset: dataset, Analyst: "ana", SQL: text})
}

func (d *hospitalDemo) title(text string)           { fmt.Fprintf(d.w, "\n== %s ==\n\n", text) }
func (d *hospitalDemo) sql(text string)             { fmt.Fprintf(d.w, "  > %s\n", text) }
func (d *hospitalDemo) say(format string, a ...any) { fmt.Fprintf(d.w, format+"\n", a...) }

func numberOf(v any) float64 {
	f, _ := v.(json.Number).Float64()
	return f
}
