import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { version, type Answer, type Explanation, type Question, type Span } from '../api'
import type { Range } from '../chart/axis'
import { within } from '../chart/axis'
import { Band } from '../chart/band'
import { Intervals } from '../chart/intervals'
import { epsilon, measured, percent, plural } from '../format'
import { Copy, Dialog, save, sentence, Tabs, useLoaded } from '../ui/ui'
import { asideOf, limitsOf, little, notesOf, outside, wordsOf, type Told } from './caption'
import { cite, copies, csv } from './copies'
import { dateOf, label, shapeOf, swamped, type Shape } from './shape'

// Charts draws an answer by what it is: numbers, groups, or values along dates or numbers. Ranges,
// where they are known, are what the values of a column cannot be beyond; told is what goes with a
// chart that is taken along.
export function Charts({ answer, shape = shapeOf(answer), ranges = [], told }: { answer: Answer; shape?: Shape; ranges?: (Range | null)[]; told?: Told }) {
  if (shape.kind === 'nothing') return <p class="hint">There are no rows.</p>
  if (shape.kind === 'table') return <Rows answer={answer} shape={shape} />
  if (shape.kind === 'numbers') {
    return <div class="figures">{shape.noisy.map(i => <Figure key={i} name={answer.columns[i]} value={answer.rows[0][i]} error={answer.errors![0][i]} whole={answer.whole?.[0][i]} range={ranges[i]} confidence={answer.confidence} />)}</div>
  }
  return <>{shape.noisy.map(i => {
    const rows = answer.rows.map((row, r) => ({ row, value: row[i] as number, error: answer.errors![r][i], whole: answer.whole?.[r][i] })).filter(({ row }) => typeof row[i] === 'number')
    const about = { title: answer.columns[i], range: ranges[i], confidence: answer.confidence, words: told && wordsOf(answer, shape, i, told) }
    if (shape.kind === 'groups') return <Intervals key={i} {...about} points={rows.map(({ row, ...p }) => ({ ...p, label: shape.keys.map(k => label(row[k])).join(' · ') }))} />
    const key = shape.keys[0], aside = asideOf(answer, shape, i)
    const points = rows.filter(({ row }) => row[key] !== null).map(({ row, ...p }) => ({ ...p, at: shape.dates ? dateOf(row[key]) : Number(row[key]) }))
    return points.length > 1 ? <Fragment key={i}>
      <Band {...about} along={answer.columns[key]} points={points} />
      {aside && <p class="hint">{aside}</p>}
    </Fragment> : null
  })}</>
}

function Figure({ name, value, error, whole, range, confidence }: { name: string; value: Answer['rows'][0][0]; error: number | null; whole?: Span | null; range?: Range | null; confidence: number }) {
  const lost = swamped(value, error)
  return <div class={lost ? 'figure lost' : 'figure'}>
    <span class="name">{name}</span>
    <span class="value">{typeof value === 'number' ? measured(value, error) : label(value)}</span>
    {error !== null && typeof value === 'number' && <span class="interval">± {measured(error, error)}: from {measured(within(value - error, range), error)} to {measured(within(value + error, range), error)} <span class="hint">({percent(confidence, 3)} noise interval)</span></span>}
    {whole && <span class="interval whole">{span(whole)} with what is cut</span>}
    {lost && <span class="hint">not distinguishable from 0</span>}
  </div>
}

// span says between which numbers something is that is known roughly.
const span = ({ low, high }: Span) => `from ${rough(low)} to ${rough(high)}`
const rough = (n: number) => new Intl.NumberFormat('en', { maximumSignificantDigits: 3 }).format(n)

// Cut says what a number leaves out: of people with more than counts, the rest. It is no part of the
// interval. More is what else is known about it.
export function Cut({ answer, more }: { answer: Answer; more?: string }) {
  const limits = limitsOf(answer)
  return limits ? <p class={little(answer) ? 'notice bad cut' : 'notice cut'} role="note"><strong>{limits}</strong> {outside}{more && ' ' + more}</p> : null
}

const first = 200

// Rows is the table of an answer. What the noise swamps is grey, and says so.
export function Rows({ answer, shape = shapeOf(answer) }: { answer: Answer; shape?: Shape }) {
  const [all, setAll] = useState(false)
  const rows = all ? answer.rows : answer.rows.slice(0, first)
  return <div class="rows" tabIndex={0} role="region" aria-label="Answer as a table">
    <table>
      <thead><tr>{answer.columns.map((c, i) => <th key={i} scope="col" class={shape.noisy.includes(i) ? 'number' : undefined}>{c}{shape.noisy.includes(i) && <> <span class="hint">± noise</span></>}</th>)}</tr></thead>
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
  return <section class={answer.made_up ? 'result made-up' : little(answer) ? 'result little' : 'result'} aria-label="Answer">
    {answer.made_up && <p class="notice bad" role="note"><strong>Made up.</strong> These people do not exist: the rows come from the policy alone, and the numbers mean nothing. Nothing was spent. On the data this would cost at most {epsilon(answer.cost.epsilon)}.</p>}
    <header>
      {chart && <Tabs name="Show as" tabs={[['chart', 'Chart'], ['table', 'Table']]} now={tab} onChoose={setTab} />}
      <span class="hint">{plural(answer.rows.length, 'row')}{shape.noisy.length > 0 && ` · intervals cover the noise, with probability ${percent(answer.confidence, 3)}`}</span>
      {!answer.made_up && <span class="ways">
      <button type="button" class="quiet" onClick={() => save(name + '.csv', 'text/csv', csv(answer))}>CSV</button>
      <button type="button" class="quiet" onClick={() => save(name + '.json', 'application/json', JSON.stringify(answer, null, 2))}>JSON</button>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>Use elsewhere</button>
      </span>}
    </header>
    {lost && <p class="notice">Every number is within its noise: nothing here can be distinguished from 0. A sharper answer may help.</p>}
    {chart && tab === 'chart' ? <><Charts answer={answer} shape={shape} ranges={ranges} told={answer.made_up ? undefined : { question, price }} /><Cut answer={answer} /></> : <><Cut answer={answer} /><Rows answer={answer} shape={shape} /></>}
    {children}
    {answer.notes.length > 0 && <ul class="notes">{notesOf(answer).slice(answer.made_up ? 1 : 0).map(n => <li key={n}>{sentence(n)}</li>)}</ul>}
    {!answer.made_up && <p class="receipt hint">
      {answer.receipt.free ? 'Free: already paid for' : `Paid ${epsilon(answer.cost.epsilon)}`}
      {answer.more !== undefined && `, enough left for about ${plural(answer.more, 'question')} like this`}{answer.remaining.epsilon !== null && `, ${epsilon(answer.remaining.epsilon)} left`} · record {answer.receipt.sequence} of the ledger, <code title={answer.receipt.hash}>{answer.receipt.hash.slice(0, 12)}…</code>
      {' · '}version {answer.data_version.name ?? answer.data_version.number} of the data
      {paid && paid.free.length > 0 && <> · free: {paid.free.join('; ')}</>}
    </p>}
    <Dialog title="Use this answer elsewhere" open={open} onClose={() => setOpen(false)}>
      <h3>To cite</h3>
      <p class="cite">{cite(question, answer, price)} <Copy text={cite(question, answer, price)} /></p>
      {!server.loading && copies(question, who, server.value?.postgres_port).map(([k, text]) => <div key={k}><h3>{k}</h3><pre tabIndex={0}>{text}</pre><Copy text={text} /></div>)}
      <p class="hint">Asking it again is free as long as the data stays the same.</p>
    </Dialog>
  </section>
}
