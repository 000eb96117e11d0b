import{b as l}from"./chunk-BIIGE2RI.js";var a=e=>`'${e.replaceAll("'","'\\''")}'`,p=e=>e.includes(`
`)?`"""${e.replaceAll("\\","\\\\").replaceAll('"""','\\"\\"\\"')}"""`:JSON.stringify(e);function m(e,n){let i=location.origin,c=location.hostname,t=Object.entries(e.settings??{}),o=JSON.stringify(e);return[["psql",`psql ${a(`postgresql://${encodeURIComponent(n)}@${c}:5432/${encodeURIComponent(e.dataset)}`)} \\
${t.map(([s,r])=>`  -c ${a(`SET ${s} = ${r}`)} \\
`).join("")}  -c ${a(e.sql)}`],["Python",`import psycopg
with psycopg.connect("host=${c} dbname=${e.dataset} user=${n}", autocommit=True) as db:
${t.map(([s,r])=>`    db.execute("SET ${s} = ${r}")
`).join("")}    db.execute("SET dp.errors = columns")
    print(db.execute(${p(e.sql)}).fetchall())`],["R",`library(DBI)
db <- dbConnect(RPostgres::Postgres(), host = "${c}", dbname = "${e.dataset}", user = "${n}", password = askpass::askpass())
${t.map(([s,r])=>`dbExecute(db, "SET ${s} = ${r}")
`).join("")}dbExecute(db, "SET dp.errors = columns")
dbGetQuery(db, ${JSON.stringify(e.sql)})`],["curl",`curl ${i}/v1/query -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d ${a(o)}`]]}function b(e,n,i){return`Differentially private answer of the dataset "${e.dataset}" (version ${n.data_version.name??n.data_version.number} of the data), released with \u03B5 = ${l(i,3)}; noise intervals hold with probability ${n.confidence}. Discreet, record ${n.receipt.sequence} of the ledger, ${n.receipt.hash.slice(0,16)}.`}var d=e=>{let n=e==null?"":String(e);return typeof e=="string"&&/^[=+\-@'\t\r\n＝＋－＠]/.test(n)&&(n="'"+n),/[",\n\r]/.test(n)?`"${n.replaceAll('"','""')}"`:n},u=e=>e.map(n=>n.map(d).join(",")).join(`\r
`)+`\r
`;function f(e){let n=e.columns.map((t,o)=>e.errors?.some(s=>s[o]!==null)??!1),i=e.columns.flatMap((t,o)=>n[o]?[t,t+"_error"]:[t]),c=e.rows.map((t,o)=>t.flatMap((s,r)=>n[r]?[s,e.errors[o][r]]:[s]));return u([i,...c])}export{m as a,b,u as c,f as d};
