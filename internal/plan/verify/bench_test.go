package verify_test

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
)

// BenchmarkQuery is what the second check takes, beside what planning takes.
func BenchmarkQuery(b *testing.B) {
	hospital, shop := load(b, "hospital.yaml", "hospital"), parsed(b, shopPolicy)
	for _, c := range []struct{ name, text string }{
		{"count", "SELECT COUNT(*) FROM patients"},
		{"where",
			"SELECT sex, COUNT(*), SUM(cost), AVG(age) FROM patients WHERE age BETWEEN 20 AND 60 AND smoker AND cost / age > 3 " +
				"GROUP BY sex"},
		{"ages", "SELECT age, sex, COUNT(*) FROM patients GROUP BY age, sex"},
		{"functions", "SELECT SUM(round(ln(age + 1) * 10, 1)), SUM(width_bucket(cost, 0, 1000, 10)), SUM(length(CAST(cost AS text))) " +
			"FROM patients WHERE lower(left(sex, 1)) LIKE 'f%'"},
		{"join", shopQuestions[4]},
		{"persons", shopQuestions[13]},
		{"union", shopQuestions[14]},
		{"exists", shopQuestions[22]},
	} {
		ds := hospital
		st, err := plan.Prepare(ds, c.text, plan.Options{Public: columns{}})
		if err != nil {
			ds = shop
			if st, err = plan.Prepare(ds, c.text, plan.Options{Public: columns{}}); err != nil {
				b.Fatal(c.text, err)
			}
		}
		b.Run("verify/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := checked(ds, columns{}, &st.Plans[0].Query); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("prepare/"+c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := plan.Prepare(ds, c.text, plan.Options{Public: columns{}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
