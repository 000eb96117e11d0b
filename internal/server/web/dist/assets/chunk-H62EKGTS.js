import{l}from"./chunk-LOPQ7NMM.js";var a=n=>`'${n.replaceAll("'","'\\''")}'`,f=n=>n.includes(`
`)?`"""${n.replaceAll("\\","\\\\").replaceAll('"""','\\"\\"\\"')}"""`:JSON.stringify(n);function h(n,e,s){let c=location.origin,t=location.hostname,r=n.settings?.["dp.error"],o=n.settings?.["dp.epsilon"],i=r!==void 0?`error=${r}`:o!==void 0?`epsilon=${o}`:"",p=Object.entries(n.settings??{}),d=JSON.stringify(n);return[["Python",`import discreet  # a token, from your account page, is in DISCREET_TOKEN
db = discreet.connect(${JSON.stringify(c)}, dataset=${JSON.stringify(n.dataset)})
print(db.ask(${f(n.sql)}${i&&", "+i}))`],["R",`library(discreet)  # a token, from your account page, is in DISCREET_TOKEN
con <- discreet_connect(${JSON.stringify(c)}, dataset = ${JSON.stringify(n.dataset)})
discreet_ask(con, ${JSON.stringify(n.sql)}${i&&", "+i.replace("="," = ")})`],...s?[["psql",`psql ${a(`postgresql://${encodeURIComponent(e)}@${t}:${s}/${encodeURIComponent(n.dataset)}`)} \\
${p.map(([$,u])=>`  -c ${a(`SET ${$} = ${u}`)} \\
`).join("")}  -c ${a(n.sql)}`]]:[],["curl",`curl ${c}/v1/query -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d ${a(d)}`]]}function b(n,e,s){return`Differentially private answer of the dataset "${n.dataset}" (version ${e.data_version.name??e.data_version.number} of the data)${s>0?`, released with \u03B5 = ${l(s,3)}`:""}; noise intervals hold with probability ${e.confidence}. Discreet, record ${e.receipt.sequence} of the ledger, ${e.receipt.hash.slice(0,16)}.`}var g=n=>{let e=n==null?"":String(n);return typeof n=="string"&&/^[=+\-@'\t\r\n＝＋－＠]/.test(e)&&(e="'"+e),/[",\n\r]/.test(e)?`"${e.replaceAll('"','""')}"`:e},m=n=>n.map(e=>e.map(g).join(",")).join(`\r
`)+`\r
`;function w(n){let e=n.columns.map((t,r)=>n.errors?.some(o=>o[r]!==null)??!1),s=n.columns.flatMap((t,r)=>e[r]?[t,t+"_error"]:[t]),c=n.rows.map((t,r)=>t.flatMap((o,i)=>e[i]?[o,n.errors[r][i]]:[o]));return m([s,...c])}export{h as a,b,m as c,w as d};
