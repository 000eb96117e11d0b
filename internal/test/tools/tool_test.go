package tools

import (
	"os"
	"os/exec"
	"path/filepath"
)

// tool is a program or a library that people ask with.
type tool struct {
	name  string
	with  string   // who runs the sender: a program, or a folder of DISCREET_TOOLS
	args  []string // the sender, from testdata/senders
	probe []string // arguments with which the program tells whether the tool is there
}

// sender is the source of what is run, from testdata/senders.
func (t tool) sender() string {
	if last := t.args[len(t.args)-1]; !filepath.IsAbs(last) {
		return last
	}
	if t.name == "gorm" {
		return "go/main.go"
	}
	return "rust/src/bin/" + t.name + ".rs"
}

// installed is the folder of what .ci/tools installed.
func installed() string { return os.Getenv("DISCREET_TOOLS") }

func python(name, folder, module string) tool {
	return tool{name: name, with: filepath.Join(folder, "bin", "python"), args: []string{"send_" + name + ".py"},
		probe: []string{"-c", "import " + module}}
}

func node(name string) tool {
	return tool{name: name, with: "node", args: []string{"send_" + name + ".mjs"}, probe: []string{"probe.mjs", name}}
}

// java runs a sender with the libraries that Maven fetched, of which one has a class.
func java(name, class string) tool {
	libraries := filepath.Join(installed(), "java/*")
	return tool{name: name, with: "java", args: []string{"-cp", libraries, "send_" + name + ".java"},
		probe: []string{"-cp", libraries, "probe.java", class}}
}

func rust(name string) tool {
	return tool{name: name, with: "env", args: []string{filepath.Join(installed(), "rust/target/release", name)},
		probe: []string{"test", "-x", filepath.Join(installed(), "rust/target/release", name)}}
}

var tools = []tool{
	{name: "psql", with: "bash", args: []string{"send_psql.sh"}, probe: []string{"-c", "command -v psql"}},
	python("psycopg2", "python", "psycopg2"),
	python("psycopg3", "python", "psycopg"),
	python("asyncpg", "python", "asyncpg"),
	python("sqlalchemy", "python", "sqlalchemy, psycopg2"),
	python("pandas", "python", "pandas, sqlalchemy, psycopg2"),
	{name: "jdbc", with: "java", args: []string{"-cp", jdbcDriver, "send_jdbc.java"},
		probe: []string{"-cp", jdbcDriver, "probe.java", "org.postgresql.Driver"}},
	{name: "r", with: "Rscript", args: []string{"send_r.R"}, probe: []string{"-e", "library(RPostgreSQL); library(dbplyr)"}},
	python("odbc", "python", "pyodbc"),
	{name: "pgbench", with: "bash", args: []string{"send_pgbench.sh"},
		probe: []string{"-c", "ls /usr/lib/postgresql/*/bin/pgbench"}},
	node("node_pg"), node("postgresjs"), node("knex"), node("sequelize"), node("drizzle"), node("typeorm"),
	rust("tokio_postgres"), rust("sqlx"), rust("diesel"), rust("sea_orm"),
	python("pgcli", "python", "pgcli"),
	python("polars", "python", "polars, connectorx, adbc_driver_postgresql"),
	python("connectorx", "python", "connectorx"),
	python("adbc", "python", "adbc_driver_postgresql, pyarrow"),
	python("ibis", "python", "ibis.backends.postgres"),
	python("jupysql", "python", "sql, matplotlib"),
	python("dbt", "dbt", "dbt.adapters.postgres"),
	python("superset", "superset", "superset"),
	python("django", "django", "django, psycopg"),
	python("peewee", "django", "peewee, pony, tortoise"),
	python("langchain", "langchain", "langchain_community, llama_index.core"),
	python("expectations", "quality", "great_expectations"),
	java("hibernate", "org.hibernate.Session"), java("jooq", "org.jooq.codegen.GenerationTool"),
	{name: "gorm", with: "env", args: []string{filepath.Join(installed(), "go/gorm")},
		probe: []string{"test", "-x", filepath.Join(installed(), "go/gorm")}},
	{name: "pg_dump", with: "bash", args: []string{"send_pg_dump.sh"},
		probe: []string{"-c", "ls /usr/lib/postgresql/*/bin/pg_dump /usr/share/postgresql/*/extension/postgres_fdw.control"}},
	{name: "pgbouncer", with: "bash", args: []string{"send_pgbouncer.sh"},
		probe: []string{"-c", "PATH=$PATH:/usr/sbin command -v pgbouncer"}},
	node("kysely"), node("postgraphile"), node("malloy"),
	{name: "ruby", with: "ruby", args: []string{"send_ruby.rb"},
		probe: []string{"-e", "require 'active_record'; require 'sequel'; require 'pg'"}},
	{name: "php", with: "php", args: []string{"send_php.php"},
		probe: []string{"-r", "require 'Doctrine/ORM/autoload.php'; exit(extension_loaded('pdo_pgsql') ? 0 : 1);"}},
	{name: "perl", with: "perl", args: []string{"send_perl.pl"},
		probe: []string{"-MDBD::Pg", "-MDBIx::Class::Schema::Loader", "-e", "1"}},
	python("pgadmin", "pgadmin", "pgadmin4"),
}

// jdbcDriver is where Debian's libpostgresql-jdbc-java puts it.
const jdbcDriver = "/usr/share/java/postgresql.jar"

func (t tool) command() []string { return append([]string{t.program()}, t.args...) }

func (t tool) program() string {
	if filepath.Base(t.with) != t.with {
		return filepath.Join(installed(), t.with)
	}
	return t.with
}

// missing says why a tool cannot be run here.
func (t tool) missing() string {
	c := exec.Command(t.program(), t.probe...)
	c.Dir = "testdata/senders"
	if out, err := c.CombinedOutput(); err != nil {
		return t.name + " is not installed (.ci/tools installs it): " + err.Error() + " " + string(out)
	}
	return ""
}
