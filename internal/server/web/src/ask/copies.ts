// The same question elsewhere, and a sentence to cite its answer with.
import type { Answer, Question } from '../api'
import { significant } from '../format'

const shell = (s: string) => `'${s.replaceAll("'", `'\\''`)}'`
const python = (s: string) => (s.includes('\n') ? `"""${s.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"')}"""` : JSON.stringify(s))

// copies are the question for other programs; port is that for PostgreSQL clients, where there is one.
export function copies(q: Question, who: string, port?: number): [string, string][] {
  const origin = location.origin
  const host = location.hostname
  const sets = Object.entries(q.settings ?? {})
  const wish = sets.map(([k, v]) => `${k.replace('dp.', '')}=${typeof v === 'string' ? JSON.stringify(v) : v}`).join(', ')
  const body = JSON.stringify(q)
  return [
    ['Python', `import discreet  # a token, from your account page, is in DISCREET_TOKEN\ndb = discreet.connect(${JSON.stringify(origin)}, dataset=${JSON.stringify(q.dataset)})\nprint(db.ask(${python(q.sql)}${wish && ', ' + wish}))`],
    ['R', `library(discreet)  # a token, from your account page, is in DISCREET_TOKEN\ncon <- discreet_connect(${JSON.stringify(origin)}, dataset = ${JSON.stringify(q.dataset)})\ndiscreet_ask(con, ${JSON.stringify(q.sql)}${wish && ', ' + wish.replaceAll('=', ' = ')})`],
    ...(port ? [['psql', `psql ${shell(`postgresql://${encodeURIComponent(who)}@${host}:${port}/${encodeURIComponent(q.dataset)}`)} \\\n${sets.map(([k, v]) => `  -c ${shell(`SET ${k} = ${v}`)} \\\n`).join('')}  -c ${shell(q.sql)}`] as [string, string]] : []),
    ['curl', `curl ${origin}/v1/query -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n  -d ${shell(body)}`],
  ]
}

export function cite(q: Question, a: Answer, epsilonPaid: number): string {
  return `Differentially private answer of the dataset "${q.dataset}" (version ${a.data_version.name ?? a.data_version.number} of the data)${epsilonPaid > 0 ? `, released with ε = ${significant(epsilonPaid, 3)}` : ''}; ` +
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
