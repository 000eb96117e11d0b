-- pgjdbc 42.5.5, recorded from a server log: session
select current_schema()
