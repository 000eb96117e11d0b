"""LangChain's and LlamaIndex's SQL databases: what they put before a model, and what a model asks."""

from step import QUESTIONS, URL, begin, step, tool

from langchain_community.tools import InfoSQLDatabaseTool, ListSQLDatabaseTool, QuerySQLDatabaseTool
from langchain_community.utilities import SQLDatabase
from llama_index.core import SQLDatabase as Index

tool("langchain-community", "llama-index-core", "SQLAlchemy")
begin("connect")
db = None


def connect():
    global db
    db = SQLDatabase.from_uri(URL)


step("connect", connect)
if db:
    step("tables", lambda: db.get_usable_table_names())
    step("without samples", lambda: SQLDatabase.from_uri(URL, sample_rows_in_table_info=0).get_table_info())
    step("with samples", lambda: db.get_table_info())
    step("with samples, or none", lambda: db.get_table_info_no_throw(["patients"]))
    step("views", lambda: SQLDatabase.from_uri(URL, view_support=True, sample_rows_in_table_info=0).get_table_info())
    step("indexes", lambda: SQLDatabase.from_uri(URL, indexes_in_table_info=True, sample_rows_in_table_info=0).get_table_info())
    step("list tool", lambda: ListSQLDatabaseTool(db=db).invoke(""))
    step("info tool", lambda: InfoSQLDatabaseTool(db=db).invoke("patients, wards"))
    for name, sql in QUESTIONS:
        step(name, lambda: db.run(sql))
    step("query tool", lambda: QuerySQLDatabaseTool(db=db).invoke("SELECT sex, COUNT(*) FROM patients GROUP BY sex"))
    step("parameters", lambda: db.run("SELECT COUNT(*) FROM patients WHERE age > :a", parameters={"a": 40}))
index = None


def open_index():
    global index
    index = Index.from_uri(URL)


step("index: connect", open_index)
if index:
    step("index: tables", lambda: [index.get_usable_table_names(), index.get_table_columns("patients")])
    step("index: one table", lambda: index.get_single_table_info("visits"))
    step("index: run", lambda: index.run_sql("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis"))
    step("index: rows", lambda: index.run_sql("SELECT * FROM patients LIMIT 5"))
