import { useState } from 'preact/hooks'
import { version, type Answer, type Explanation, type Question, type Span } from '../api'
import type { Range } from '../chart/axis'
import { within } from '../chart/axis'
import { Band } from '../chart/band'
import { Intervals } from '../chart/intervals'
import { epsilon, measured, percent, plural } from '../format'
import { Copy, Dialog, save, sentence, Tabs, useLoaded } from '../ui/ui'
import { cite, copies, csv } from './copies'
import { dateOf, label, shapeOf, swamped, type Shape } from './shape'

// Charts draws an answer by what it is: numbers, groups or times.
// Ranges, where they are known, are what the values of a column cannot be beyond.
export function Charts({ answer, shape = shapeOf(answer), ranges = [] }: { answer: Answer; shape?: Shape; ranges?: (Range | null)[] }) {
  if (shape.kind === 'nothing') return <p class="hint">There are no rows.</p>
  if (shape.kind === 'table') return <Rows answer={answer} shape={shape} />
  if (shape.kind === 'numbers') {
    return <div class="figures">{shape.noisy.map(i => <Figure key={i} name={answer.columns[i]} value={answer.rows[0][i]} error={answer.errors![0][i]} whole={answer.whole?.[0][i]} range={ranges[i]} confidence={answer.confidence} />)}</div>
  }
  return <>{shape.noisy.map(i => {
    const rows = answer.rows.map((row, r) => ({ row, error: answer.errors![r][i] })).filter(({ row }) => typeof row[i] === 'number')
    if (shape.kind === 'line') {
      const points = rows.filter(({ row }) => row[shape.keys[0]] !== null).map(({ row, error }) => ({ at: dateOf(row[shape.keys[0]]), value: row[i] as number, error }))
      return points.length > 1 ? <Band key={i} range={ranges[i]} title={answer.columns[i]} points={points} confidence={answer.confidence} /> : null
    }
    const points = rows.map(({ row, error }) => ({ label: shape.keys.map(k => label(row[k])).join(' · '), value: row[i] as number, error }))
    return <Intervals key={i} range={ranges[i]} title={answer.columns[i]} points={points} confidence={answer.confidence} />
  })}</>
}

function Figure({ name, value, error, whole, range, confidence }: { name: string; value: Answer['rows'][0][0]; error: number | null; whole?: Span | null; range?: Range | null; confidence: number }) {
  const lost = swamped(value, error)
  return <div class={lost ? 'figure lost' : 'figure'}>
    <span class="name">{name}</span>
    <span class="value">{typeof value === 'number' ? measured(value, error) : label(value)}</span>
    {error !== null && typeof value === 'number' && <span class="interval">± {measured(error, error)}: from {measured(within(value - error, range), error)} to {measured(within(value + error, range), error)} <span class="hint">({percent(confidence)} noise interval)</span></span>}
    {whole && <span class="interval whole">{span(whole)} with what is cut</span>}
    {lost && <span class="hint">not distinguishable from 0</span>}
  </div>
}

// span says between which numbers something is that is known roughly.
const span = ({ low, high }: Span) => `from ${rough(low)} to ${rough(high)}`
const rough = (n: number) => new Intl.NumberFormat('en', { maximumSignificantDigits: 3 }).format(n)

// share says which part of the rows counts, where a profile of the table knows it.
function share({ counted }: Answer['limits']): string {
  if (!counted) return ''
  const { low, about, high, at_least, most } = counted
  const part = at_least ? `At least ${percent(low)}` : `About ${percent(about)} (${Math.round(100 * low)} to ${Math.round(100 * high)})`
  return `${part} of the rows count, if nobody has more than ${most}. `
}

// Cut says what a number leaves out: of people with more than counts, the rest. It is no part of the
// interval. More is what else is known about it.
export function Cut({ answer, more }: { answer: Answer; more?: string }) {
  const { limits } = answer
  if (!limits.cut || shapeOf(answer).noisy.length === 0) return null
  const groups = limits.max_groups > 1 || shapeOf(answer).keys.length > 0 ? ` in each of at most ${plural(limits.max_groups, 'group')}` : ''
  return <p class="notice cut" role="note"><strong>{share(limits)}Of each person at most {plural(limits.max_rows, 'row')}{groups} {limits.max_rows === 1 && groups === '' ? 'counts' : 'count'}.</strong> The noise intervals do not contain what this leaves out.{more && ' ' + more}</p>
}

const first = 200

// Rows is the table of an answer. What the noise swamps is grey, and says so.
export function Rows({ answer, shape = shapeOf(answer) }: { answer: Answer; shape?: Shape }) {
  const [all, setAll] = useState(false)
  const rows = all ? answer.rows : answer.rows.slice(0, first)
  return <div class="rows" tabIndex={0} role="region" aria-label="Answer as a table">
    <table>
      <thead><tr>{answer.columns.map((c, i) => <th key={i} scope="col" class={shape.noisy.includes(i) ? 'number' : undefined}>{c}{shape.noisy.includes(i) && <span class="hint"> ± noise</span>}</th>)}</tr></thead>
      <tbody>{rows.map((row, r) => <tr key={r}>{row.map((v, i) => {
        const error = answer.errors?.[r]?.[i] ?? null
        if (typeof v !== 'number') return <td key={i}>{label(v)}</td>
        const lost = swamped(v, error)
        return <td key={i} class={lost ? 'number lost' : 'number'} title={lost ? 'not distinguishable from 0' : undefined}>
          {measured(v, error)}{error !== null && <span class="error"> ± {measured(error, error)}</span>}{answer.whole?.[r][i] && <span class="error whole"><br />{span(answer.whole[r][i]!)} with what is cut</span>}{lost && <span class="unseen">, not distinguishable from 0</span>}
        </td>
      })}</tr>)}</tbody>
    </table>
    {answer.rows.length > rows.length && <button type="button" class="quiet" onClick={() => setAll(true)}>Show all {answer.rows.length} rows</button>}
  </div>
}

interface Props { answer: Answer; question: Question; who: string; paid?: Explanation; ranges?: (Range | null)[]; children?: preact.ComponentChildren }

// Result is an answer with everything about it: chart, table, price, receipt, and ways on.
export function Result({ answer, question, who, paid, ranges, children }: Props) {
  const shape = shapeOf(answer)
  const chart = shape.kind === 'groups' || shape.kind === 'line' || shape.kind === 'numbers'
  const [tab, setTab] = useState<'chart' | 'table'>('chart')
  const [open, setOpen] = useState(false)
  const server = useLoaded(signal => (open ? version(signal) : Promise.resolve(null)), [open])
  const price = paid?.cost.epsilon || answer.cost.epsilon // of all of it: a sharper answer was charged the difference
  const name = `answer-${answer.receipt.sequence}`
  const lost = shape.noisy.length > 0 && answer.rows.every((row, r) => shape.noisy.every(i => swamped(row[i], answer.errors![r][i])))
  return <section class="result" aria-label="Answer">
    <header>
      {chart && <Tabs name="Show as" tabs={[['chart', 'Chart'], ['table', 'Table']]} now={tab} onChoose={setTab} />}
      <span class="hint">{plural(answer.rows.length, 'row')}{shape.noisy.length > 0 && ` · intervals cover the noise, with probability ${percent(answer.confidence)}`}</span>
      <span class="ways">
      <button type="button" class="quiet" onClick={() => save(name + '.csv', 'text/csv', csv(answer))}>CSV</button>
      <button type="button" class="quiet" onClick={() => save(name + '.json', 'application/json', JSON.stringify(answer, null, 2))}>JSON</button>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>Use elsewhere</button>
      </span>
    </header>
    {lost && <p class="notice">Every number is within its noise: nothing here can be distinguished from 0. A sharper answer may help.</p>}
    {chart && tab === 'chart' ? <><Charts answer={answer} shape={shape} ranges={ranges} /><Cut answer={answer} /></> : <><Cut answer={answer} /><Rows answer={answer} shape={shape} /></>}
    {children}
    {answer.notes.length > 0 && <ul class="notes">{answer.notes.filter(n => !answer.limits.counted || !/ of the rows count | with what is cut$/.test(n)).map(n => <li key={n}>{sentence(n)}</li>)}</ul>}
    <p class="receipt hint">
      {answer.receipt.free ? 'Free: already paid for' : `Paid ${epsilon(answer.cost.epsilon)}`}
      {answer.more !== undefined && `, enough left for about ${plural(answer.more, 'question')} like this`}{answer.remaining.epsilon !== null && `, ${epsilon(answer.remaining.epsilon)} left`} · record {answer.receipt.sequence} of the ledger, <code title={answer.receipt.hash}>{answer.receipt.hash.slice(0, 12)}…</code>
      {' · '}version {answer.data_version.name ?? answer.data_version.number} of the data
      {paid && paid.free.length > 0 && <> · free: {paid.free.join('; ')}</>}
    </p>
    <Dialog title="Use this answer elsewhere" open={open} onClose={() => setOpen(false)}>
      <h3>To cite</h3>
      <p class="cite">{cite(question, answer, price)} <Copy text={cite(question, answer, price)} /></p>
      {!server.loading && copies(question, who, server.value?.postgres_port).map(([k, text]) => <div key={k}><h3>{k}</h3><pre tabIndex={0}>{text}</pre><Copy text={text} /></div>)}
      <p class="hint">Asking it again is free as long as the data stays the same.</p>
    </Dialog>
  </section>
}
