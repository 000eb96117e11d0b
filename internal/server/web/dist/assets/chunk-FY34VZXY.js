import{l as d}from"./chunk-LOPQ7NMM.js";var p=e=>`'${e.replaceAll("'","'\\''")}'`,g=e=>e.includes(`
`)?`"""${e.replaceAll("\\","\\\\").replaceAll('"""','\\"\\"\\"')}"""`:JSON.stringify(e);function h(e,n,r){let c=location.origin,t=location.hostname,s=e.settings?.["dp.error"],o=e.settings?.["dp.epsilon"],i=Object.entries({...e.settings,"dp.error":s,"dp.epsilon":o}).filter(([,a])=>a!==void 0).map(([a,l])=>`${a.replace("dp.","")}=${typeof l=="string"?JSON.stringify(l):l}`).join(", "),$=Object.entries(e.settings??{}),f=JSON.stringify(e);return[["Python",`import discreet  # a token, from your account page, is in DISCREET_TOKEN
db = discreet.connect(${JSON.stringify(c)}, dataset=${JSON.stringify(e.dataset)})
print(db.ask(${g(e.sql)}${i&&", "+i}))`],["R",`library(discreet)  # a token, from your account page, is in DISCREET_TOKEN
con <- discreet_connect(${JSON.stringify(c)}, dataset = ${JSON.stringify(e.dataset)})
discreet_ask(con, ${JSON.stringify(e.sql)}${i&&", "+i.replaceAll("="," = ")})`],...r?[["psql",`psql ${p(`postgresql://${encodeURIComponent(n)}@${t}:${r}/${encodeURIComponent(e.dataset)}`)} \\
${$.map(([a,l])=>`  -c ${p(`SET ${a} = ${l}`)} \\
`).join("")}  -c ${p(e.sql)}`]]:[],["curl",`curl ${c}/v1/query -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d ${p(f)}`]]}function O(e,n,r){return`Differentially private answer of the dataset "${e.dataset}" (version ${n.data_version.name??n.data_version.number} of the data)${r>0?`, released with \u03B5 = ${d(r,3)}`:""}; noise intervals hold with probability ${n.confidence}. Discreet, record ${n.receipt.sequence} of the ledger, ${n.receipt.hash.slice(0,16)}.`}var u=e=>{let n=e==null?"":String(e);return typeof e=="string"&&/^[=+\-@'\t\r\n＝＋－＠]/.test(n)&&(n="'"+n),/[",\n\r]/.test(n)?`"${n.replaceAll('"','""')}"`:n},m=e=>e.map(n=>n.map(u).join(",")).join(`\r
`)+`\r
`;function b(e){let n=e.columns.map((t,s)=>e.errors?.some(o=>o[s]!==null)??!1),r=e.columns.flatMap((t,s)=>n[s]?[t,t+"_error"]:[t]),c=e.rows.map((t,s)=>t.flatMap((o,i)=>n[i]?[o,e.errors[s][i]]:[o]));return m([r,...c])}export{h as a,O as b,m as c,b as d};
