import{l as $}from"./chunk-ONGEKQHI.js";var l=n=>`'${n.replaceAll("'","'\\''")}'`,d=n=>n.includes(`
`)?`"""${n.replaceAll("\\","\\\\").replaceAll('"""','\\"\\"\\"')}"""`:JSON.stringify(n);function m(n,t,i){let o=location.origin,r=location.hostname,s=Object.entries(n.settings??{}),e=s.map(([p,c])=>`${p.replace("dp.","")}=${typeof c=="string"?JSON.stringify(c):c}`).join(", "),a=JSON.stringify(n);return[["Python",`import discreet  # a token, from your account page, is in DISCREET_TOKEN
db = discreet.connect(${JSON.stringify(o)}, dataset=${JSON.stringify(n.dataset)})
print(db.ask(${d(n.sql)}${e&&", "+e}))`],["R",`library(discreet)  # a token, from your account page, is in DISCREET_TOKEN
con <- discreet_connect(${JSON.stringify(o)}, dataset = ${JSON.stringify(n.dataset)})
discreet_ask(con, ${JSON.stringify(n.sql)}${e&&", "+e.replaceAll("="," = ")})`],...i?[["psql",`psql ${l(`postgresql://${encodeURIComponent(t)}@${r}:${i}/${encodeURIComponent(n.dataset)}`)} \\
${s.map(([p,c])=>`  -c ${l(`SET ${p} = ${c}`)} \\
`).join("")}  -c ${l(n.sql)}`]]:[],["curl",`curl ${o}/v1/query -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d ${l(a)}`]]}function y(n,t,i){return`Differentially private answer of the dataset "${n.dataset}" (version ${t.data_version.name??t.data_version.number} of the data)${i>0?`, released with \u03B5 = ${$(i,3)}`:""}; noise intervals hold with probability ${t.confidence}. Discreet, record ${t.receipt.sequence} of the ledger, ${t.receipt.hash.slice(0,16)}.`}var u=n=>{let t=n==null?"":String(n);return typeof n=="string"&&/^[=+\-@'\t\r\n＝＋－＠]/.test(t)&&(t="'"+t),/[",\n\r]/.test(t)?`"${t.replaceAll('"','""')}"`:t},f=n=>n.map(t=>t.map(u).join(",")).join(`\r
`)+`\r
`;function h(n){let t=n.columns.map((r,s)=>n.errors?.some(e=>e[s]!==null)??!1),i=n.columns.flatMap((r,s)=>t[s]?[r,r+"_error"]:[r]),o=n.rows.map((r,s)=>r.flatMap((e,a)=>t[a]?[e,n.errors[s][a]]:[e]));return f([i,...o])}export{m as a,y as b,f as c,h as d};
