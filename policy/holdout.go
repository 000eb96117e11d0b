package policy

import (
	"math/big"
	"slices"
)

// Holdout is data on which scores are checked again and again, with a bound on how far trying can
// lead. What it means is for package holdout to say. All of it is public, except what is in the
// file of labels and in the table.
type Holdout struct {
	Name string
	// Labels is the path of a CSV file of labels, one row a person, joined with the policy's
	// folder; or it is empty, and Table is a private table in which a person has one row.
	Labels string
	// Column is the column of Labels with the labels, and ID the one that names rows in
	// submissions; without it they are in the order of the file.
	Column, ID string
	Table      string
	// Train is a public table with the columns of Table, or empty where analysts bring the training
	// value.
	Train string
	// Size is the number of people that scores are means over. It is 0 where Labels has it, whose
	// number of rows is public.
	Size int64
	// Threshold and Noise are in units of a score: how far it may be from the training value, and
	// the scale of the noise. They have up to 12 digits after the point.
	Threshold, Noise *big.Rat
	// Answers is how many answers come from the holdout before it is used up.
	Answers int
	// Steps is what values are whole parts of: 1 where everybody is right or wrong.
	Steps int64
}

const (
	maxAnswers    = 1_000_000
	maxScoreSteps = 1_000_000
)

const (
	answersMeans     = "how many answers may come from the holdout before it is used up"
	holdoutSizeMeans = "the number of people that scores are means over, which everybody may know"
	stepsMeans       = "how many steps there are from 0 to 1: 1 if everybody is right or wrong, 100 for values such as 0.25"
)

// HoldoutNames returns the names of the holdouts in the order of the file; sorted, where the
// dataset does not come from a file.
func (d *Dataset) HoldoutNames() []string { return inOrder(d.holdoutOrder, d.Holdouts) }

// readHoldouts reads the holdouts, after the tables that they name.
func (in datasetReader) readHoldouts(f fields, dir string) {
	v, ok := f.get("holdouts")
	if !ok {
		return
	}
	entries, ok := in.r.entries(v, "holdouts", "holdout", checkShortName)
	if !ok {
		return
	}
	in.d.Holdouts = map[string]*Holdout{}
	for _, e := range entries {
		h := &Holdout{Name: e.name, Steps: 1}
		if f, ok := in.r.fields(e.element, e.node, "a holdout", holdoutKeys); ok {
			h.read(in.r, f, in.d, dir)
		}
		in.d.Holdouts[e.name] = h
		in.d.holdoutOrder = append(in.d.holdoutOrder, e.name)
	}
}

func (h *Holdout) read(r *reader, f fields, d *Dataset, dir string) {
	labels, hasLabels := f.get("labels")
	table, hasTable := f.get("table")
	switch {
	case hasLabels && hasTable:
		r.at(table, "the holdout has labels and a table, which are two kinds of holdout; keep one")
	case hasLabels:
		h.readLabels(r, f, labels, d, dir)
	case hasTable:
		h.readTable(r, f, d)
	case !f.meant["labels"] && !f.meant["table"]:
		r.at(f.at, "nothing says what is held out; write labels: with the path of a CSV file, or table: with a table in which a "+
			"person has one row")
	}
	if v, ok := f.get("size"); ok {
		h.Size, _ = r.whole(v, "size", maxSize, holdoutSizeMeans)
	} else if hasTable && !hasLabels {
		f.need(r, "size", "write "+holdoutSizeMeans)
	}
	if v, ok := f.need(r, "threshold", "write how far a score may be from its training value, such as 0.04"); ok {
		h.Threshold = r.score(v, "threshold", true)
	}
	if v, ok := f.need(r, "noise", "write the scale of the noise of a score, such as 0.01"); ok {
		h.Noise = r.score(v, "noise", false)
	}
	if v, ok := f.need(r, "answers", "write "+answersMeans+", such as 200"); ok {
		n, _ := r.whole(v, "answers", maxAnswers, answersMeans)
		h.Answers = int(n)
	}
	if v, ok := f.get("steps"); ok {
		h.Steps, _ = r.whole(v, "steps", maxScoreSteps, stepsMeans)
	}
}

// score reads a number in units of a score, or returns nil.
func (r *reader) score(v element, key string, zero bool) *big.Rat {
	n, ok := r.number(v, key)
	switch {
	case !ok:
	case n.Sign() < 0 || n.Sign() == 0 && !zero:
		least := "above 0"
		if zero {
			least = "at least 0"
		}
		r.at(v, "%s %s must be %s; it is a difference of scores, such as 0.04", key, v.node.Value, least)
	case n.Cmp(one) > 0:
		r.at(v, "%s %s is above 1; scores lie between 0 and 1, so write a part of that, such as 0.04", key, v.node.Value)
	case n.Denom().Cmp(maxGrain) > 0:
		r.at(v, "%s %s has more than 12 digits after the point; write fewer", key, v.node.Value)
	default:
		return n
	}
	return nil
}

func (h *Holdout) readLabels(r *reader, f fields, v element, d *Dataset, dir string) {
	if at, ok := f.get("train"); ok {
		r.at(at, "a holdout of labels has no training table, because analysts bring the training value; remove 'train'")
	}
	if text, ok := r.text(v, "labels", "the path of a CSV file"); ok && r.path(v, "labels", text) {
		if IsCSV(text) {
			h.Labels = resolve(dir, text)
			r.oneLabels(v, d, h)
		} else {
			r.at(v, "the file of labels %s is not a CSV file; its name must end in .csv, .tsv or .txt", quote(text))
		}
	}
	if at, ok := f.need(r, "column", "name the column of the file that has the labels"); ok {
		h.Column = r.columnName(at, "column")
	}
	if at, ok := f.get("id"); ok {
		if h.ID = r.columnName(at, "id"); h.ID != "" && fold(h.ID) == fold(h.Column) {
			r.at(at, "'id' and 'column' are the same column %s; one names the rows, and the other has the labels", quote(h.ID))
		}
	}
}

func (r *reader) columnName(v element, key string) string {
	text, ok := r.text(v, key, "the name of a column of the file")
	if !ok {
		return ""
	}
	if problem := checkName(text); problem != "" {
		r.at(v, "the column %s %s", quote(text), problem)
		return ""
	}
	return text
}

func (h *Holdout) readTable(r *reader, f fields, d *Dataset) {
	for _, key := range []string{"column", "id"} {
		if at, ok := f.get(key); ok {
			r.at(at, "'%s' is about a file of labels; about a table analysts ask with an expression over its columns, so remove it", key)
		}
	}
	table := datasetReader{r, d}.readPersonal(f, "a holdout")
	if table != nil {
		h.Table = table.Name
	}
	v, ok := f.get("train")
	if !ok {
		return
	}
	text, ok := r.text(v, "train", "the name of a public table")
	if !ok || d.Tables == nil {
		return
	}
	train := d.Tables[text]
	switch {
	case train == nil:
		r.at(v, "there is no table %s; 'train' is a public table that is listed under 'tables' of the dataset%s", quote(text),
			d.similarTable(text))
	case !train.Public:
		r.at(v, "the table %s is private, and the training value is told exactly; name a table with public: true, or leave it out if "+
			"analysts bring the training value", quote(text))
	default:
		if table == nil || table.Columns == nil || train.Columns == nil {
			return
		}
		h.Train = text
		if i := slices.IndexFunc(table.order, func(name string) bool {
			c := train.Columns[name]
			return c == nil || c.Type != table.Columns[name].Type && c.Type != NoType && table.Columns[name].Type != NoType
		}); i >= 0 {
			name := table.order[i]
			r.at(v, "the table %s has no column %s of type %v, as %s has; an expression is computed on both, so list the same columns",
				quote(text), quote(name), table.Columns[name].Type, quote(table.Name))
		}
	}
}

// oneLabels refuses labels that are somewhere else too: as a table they would be charged for
// another unit, or be public; in another dataset their people would have a second budget. Holdouts
// of one dataset may share a file, because they share its budget.
func (r *reader) oneLabels(at element, d *Dataset, h *Holdout) {
	first, ok := r.tableSources[h.Labels]
	switch {
	case !ok:
		if r.tableSources == nil {
			r.tableSources = map[string]tableSource{}
		}
		r.tableSources[h.Labels] = tableSource{dataset: d.Name, table: h.Name, line: at.mark().Line, labels: true}
	case !first.labels:
		r.at(at, "the labels are read from the same file as the table %s of the dataset %s in line %d; write table: to hold out a table, "+
			"or give the labels a file of their own", quote(first.table), quote(first.dataset), first.line)
	case first.dataset != d.Name:
		r.at(at, "the labels are read from the same file as the holdout %s of the dataset %s in line %d; their people would have two "+
			"budgets, so put both into one dataset", quote(first.table), quote(first.dataset), first.line)
	}
}
