// The same question elsewhere, and a sentence to cite its answer with.
import type { Answer, Question } from '../api'
import { significant } from '../format'

const shell = (s: string) => `'${s.replaceAll("'", `'\\''`)}'`
const python = (s: string) => (s.includes('\n') ? `"""${s.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"')}"""` : JSON.stringify(s))

export function copies(q: Question, who: string): [string, string][] {
  const origin = location.origin
  const host = location.hostname
  const sets = Object.entries(q.settings ?? {})
  const body = JSON.stringify(q)
  return [
    ['psql', `psql ${shell(`postgresql://${encodeURIComponent(who)}@${host}:5432/${encodeURIComponent(q.dataset)}`)} \\\n${sets.map(([k, v]) => `  -c ${shell(`SET ${k} = ${v}`)} \\\n`).join('')}  -c ${shell(q.sql)}`],
    ['Python', `import psycopg\nwith psycopg.connect("host=${host} dbname=${q.dataset} user=${who}", autocommit=True) as db:\n${sets.map(([k, v]) => `    db.execute("SET ${k} = ${v}")\n`).join('')}    db.execute("SET dp.errors = columns")\n    print(db.execute(${python(q.sql)}).fetchall())`],
    ['R', `library(DBI)\ndb <- dbConnect(RPostgres::Postgres(), host = "${host}", dbname = "${q.dataset}", user = "${who}", password = askpass::askpass())\n${sets.map(([k, v]) => `dbExecute(db, "SET ${k} = ${v}")\n`).join('')}dbExecute(db, "SET dp.errors = columns")\ndbGetQuery(db, ${JSON.stringify(q.sql)})`],
    ['curl', `curl ${origin}/v1/query -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n  -d ${shell(body)}`],
  ]
}

export function cite(q: Question, a: Answer, epsilonPaid: number): string {
  return `Differentially private answer of the dataset "${q.dataset}" (version ${a.data_version.name ?? a.data_version.number} of the data), released with ε = ${significant(epsilonPaid, 3)}; ` +
    `noise intervals hold with probability ${a.confidence}. Discreet, record ${a.receipt.sequence} of the ledger, ${a.receipt.hash.slice(0, 16)}.`
}

const cell = (v: unknown) => {
  let s = v === null || v === undefined ? '' : String(v)
  // A spreadsheet takes a text that begins like this for a formula.
  if (typeof v === 'string' && /^[=+\-@'\t\r\n＝＋－＠]/.test(s)) s = "'" + s
  return /[",\n\r]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s
}

// table is rows as CSV, of which a spreadsheet takes none for a formula.
export const table = (rows: unknown[][]) => rows.map(row => row.map(cell).join(',')).join('\r\n') + '\r\n'

export function csv(a: Answer): string {
  const noisy = a.columns.map((_, i) => a.errors?.some(row => row[i] !== null) ?? false)
  const head = a.columns.flatMap((c, i) => (noisy[i] ? [c, c + '_error'] : [c]))
  const rows = a.rows.map((row, r) => row.flatMap((v, i) => (noisy[i] ? [v, a.errors![r][i]] : [v])))
  return table([head, ...rows])
}
