import{l}from"./chunk-ILV4LQK6.js";var a=n=>`'${n.replaceAll("'","'\\''")}'`,f=n=>n.includes(`
`)?`"""${n.replaceAll("\\","\\\\").replaceAll('"""','\\"\\"\\"')}"""`:JSON.stringify(n);function h(n,e,o){let c=location.origin,t=location.hostname,r=n.settings?.["dp.error"],s=n.settings?.["dp.epsilon"],i=r!==void 0?`error=${r}`:s!==void 0?`epsilon=${s}`:"",p=Object.entries(n.settings??{}),d=JSON.stringify(n);return[["Python",`import discreet  # a token, from your account page, is in DISCREET_TOKEN
db = discreet.connect(${JSON.stringify(c)}, dataset=${JSON.stringify(n.dataset)})
print(db.ask(${f(n.sql)}${i&&", "+i}))`],["R",`library(discreet)  # a token, from your account page, is in DISCREET_TOKEN
con <- discreet_connect(${JSON.stringify(c)}, dataset = ${JSON.stringify(n.dataset)})
discreet_ask(con, ${JSON.stringify(n.sql)}${i&&", "+i.replace("="," = ")})`],...o?[["psql",`psql ${a(`postgresql://${encodeURIComponent(e)}@${t}:${o}/${encodeURIComponent(n.dataset)}`)} \\
${p.map(([u,$])=>`  -c ${a(`SET ${u} = ${$}`)} \\
`).join("")}  -c ${a(n.sql)}`]]:[],["curl",`curl ${c}/v1/query -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d ${a(d)}`]]}function b(n,e,o){return`Differentially private answer of the dataset "${n.dataset}" (version ${e.data_version.name??e.data_version.number} of the data), released with \u03B5 = ${l(o,3)}; noise intervals hold with probability ${e.confidence}. Discreet, record ${e.receipt.sequence} of the ledger, ${e.receipt.hash.slice(0,16)}.`}var g=n=>{let e=n==null?"":String(n);return typeof n=="string"&&/^[=+\-@'\t\r\n＝＋－＠]/.test(e)&&(e="'"+e),/[",\n\r]/.test(e)?`"${e.replaceAll('"','""')}"`:e},m=n=>n.map(e=>e.map(g).join(",")).join(`\r
`)+`\r
`;function w(n){let e=n.columns.map((t,r)=>n.errors?.some(s=>s[r]!==null)??!1),o=n.columns.flatMap((t,r)=>e[r]?[t,t+"_error"]:[t]),c=n.rows.map((t,r)=>t.flatMap((s,i)=>e[i]?[s,n.errors[r][i]]:[s]));return m([o,...c])}export{h as a,b,m as c,w as d};
