// GORM over pgx, and bun over its own driver: models, aggregates, the migrator that looks around.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/driver/pgdriver"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

func step(name string, do func() error) {
	if err := os.WriteFile(os.Getenv("DISCREET_STEP"), []byte(name), 0o644); err != nil {
		panic(err)
	}
	if err := do(); err != nil {
		fmt.Printf("no %s | %T: %.300s\n", name, err, strings.Join(strings.Fields(err.Error()), " "))
		return
	}
	fmt.Println("ok " + name)
}

type Patient struct {
	bun.BaseModel `bun:"table:patients" gorm:"-"`
	Pid           int64 `gorm:"primaryKey" bun:",pk"`
	Age           int64
	Sex           string
	Diagnosis     string
	Smoker        bool
	Cost          float64
}

type Ward struct {
	bun.BaseModel `bun:"table:wards" gorm:"-"`
	Ward          string `gorm:"primaryKey" bun:",pk"`
	Building      string
	Beds          int64
}

type share struct {
	Diagnosis string
	N         int64
	A         float64
}

func main() {
	var names []string
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "gorm.io/gorm" || m.Path == "github.com/uptrace/bun" || m.Path == "github.com/jackc/pgx/v5" {
				names = append(names, m.Path+" "+m.Version)
			}
		}
	}
	fmt.Println("tool " + strings.Join(names, ", "))
	gormSteps()
	bunSteps()
}

func gormSteps() {
	e := os.Getenv
	address := fmt.Sprintf("host=%s port=%s user=%s password=%s dbname=%s sslmode=disable", e("PGHOST"), e("PGPORT"), e("PGUSER"), e("PGPASSWORD"), e("PGDATABASE"))
	var db *gorm.DB
	step("gorm: connect", func() (err error) {
		db, err = gorm.Open(postgres.Open(address), &gorm.Config{Logger: logger.Discard})
		return err
	})
	if db == nil {
		return
	}
	var n int64
	patients := func() *gorm.DB { return db.Model(&Patient{}) }
	step("gorm: look", func() error {
		m := db.Migrator()
		_, err := m.GetTables()
		m.HasTable("patients")
		m.HasColumn(&Patient{}, "age")
		m.HasIndex(&Patient{}, "patients_pkey")
		if _, err := m.ColumnTypes("patients"); err != nil {
			return err
		}
		if _, err := m.GetIndexes("patients"); err != nil {
			return err
		}
		m.CurrentDatabase()
		return err
	})
	step("gorm: first", func() error { return db.First(&Patient{}, 37).Error })
	step("gorm: first rows", func() error { return db.Limit(10).Find(&[]Patient{}).Error })
	step("gorm: count", func() error { return patients().Where("age > ? AND sex IN ?", 40, []string{"F", "M"}).Count(&n).Error })
	step("gorm: count of map", func() error {
		return patients().Where(map[string]any{"diagnosis": "flu", "smoker": true}).Count(&n).Error
	})
	step("gorm: group", func() error {
		return patients().Select("diagnosis, COUNT(*) AS n, AVG(age) AS a").Group("diagnosis").Order("n DESC").Scan(&[]share{}).Error
	})
	step("gorm: sum", func() error {
		var s float64
		return patients().Select("SUM(age)").Row().Scan(&s)
	})
	step("gorm: distinct", func() error { return patients().Distinct("diagnosis").Count(&n).Error })
	step("gorm: raw", func() error {
		return db.Raw("SELECT diagnosis, COUNT(*) AS n FROM patients WHERE age > @a GROUP BY diagnosis", sql.Named("a", 40)).Scan(&[]share{}).Error
	})
	step("gorm: public table", func() error { return db.Order("ward").Find(&[]Ward{}).Error })
	step("gorm: public first", func() error { return db.First(&Ward{}, "ward = ?", "surgery").Error })
	step("gorm: transaction", func() error {
		return db.Transaction(func(t *gorm.DB) error { return t.Model(&Patient{}).Count(&n).Error })
	})
	step("gorm: dry run", func() error { return db.Session(&gorm.Session{DryRun: true}).First(&Patient{}).Error })
	step("gorm: write", func() error { return db.Create(&Ward{Ward: "new", Building: "east"}).Error })
}

func bunSteps() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e := os.Getenv
	under := sql.OpenDB(pgdriver.NewConnector(pgdriver.WithNetwork("tcp"), pgdriver.WithAddr(e("PGHOST")+":"+e("PGPORT")), pgdriver.WithUser(e("PGUSER")),
		pgdriver.WithPassword(e("PGPASSWORD")), pgdriver.WithDatabase(e("PGDATABASE")), pgdriver.WithInsecure(true)))
	db := bun.NewDB(under, pgdialect.New())
	defer db.Close()
	patients := func() *bun.SelectQuery { return db.NewSelect().Model((*Patient)(nil)) }
	step("bun: connect", func() error { return db.PingContext(ctx) })
	step("bun: first rows", func() error { return db.NewSelect().Model(&[]Patient{}).Limit(10).Scan(ctx) })
	step("bun: count", func() error {
		_, err := patients().Where("age > ?", 40).Count(ctx)
		return err
	})
	step("bun: exists", func() error {
		_, err := patients().Where("age > ?", 40).Exists(ctx)
		return err
	})
	step("bun: group", func() error {
		return patients().Column("diagnosis").ColumnExpr("COUNT(*) AS n").ColumnExpr("AVG(age) AS a").Group("diagnosis").OrderExpr("n DESC").Scan(ctx, &[]share{})
	})
	step("bun: in", func() error {
		_, err := patients().Where("diagnosis IN (?)", bun.In([]string{"flu", "asthma"})).Count(ctx)
		return err
	})
	step("bun: with", func() error {
		q := patients().Column("diagnosis").ColumnExpr("COUNT(*) AS n").Group("diagnosis")
		return db.NewSelect().With("t", q).Table("t").Column("diagnosis", "n").Scan(ctx, &[]share{})
	})
	step("bun: public table", func() error { return db.NewSelect().Model(&[]Ward{}).Order("ward").Scan(ctx) })
	step("bun: public count", func() error {
		_, err := db.NewSelect().Model(&[]Ward{}).Order("ward").Limit(2).ScanAndCount(ctx)
		return err
	})
	step("bun: write", func() error {
		_, err := db.NewInsert().Model(&Ward{Ward: "newer", Building: "east"}).Exec(ctx)
		return err
	})
}
