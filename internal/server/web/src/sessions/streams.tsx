import { useState } from 'preact/hooks'
import { get, post, Trouble, type Cost, type Left } from '../api'
import { table as asCSV } from '../ask/copies'
import { Intervals } from '../chart/intervals'
import { compact, epsilon, measured, number, percent, plural, significant } from '../format'
import { go, Link, usePlace, withQuery } from '../router'
import { useSession } from '../session'
import { asTrouble, Busy, Empty, save, sentence, useLoaded, Warn } from '../ui/ui'

interface Stream {
  dataset: string; name: string; table: string
  attributes: { name: string; values: string[] }[]
  cells: number; size: number; alpha: number; error: number; beta: number; queries: number; predictor: string
  round: Cost; plain: Cost; most_paid: number; most_plain: number
}
interface StreamAnswer { value: number; error: number | null; confidence: number; way: string; free: boolean; cost: Cost; remaining: Left }
interface Quote { way: string; most: Cost; error: number | null }
interface Report { asked: number; different: number; cached: number; predicted: number; paid: number; plain: number; unchecked: number; refused: number; spent: Cost; cache: Cost; naive: Cost }
interface Synthetic { columns: string[]; rows: { values: string[]; count: number }[]; total: number }

const at = (dataset: string, stream?: string) => `/v1/datasets/${encodeURIComponent(dataset)}/streams${stream ? '/' + encodeURIComponent(stream) : ''}`

const ways: Record<string, string> = {
  cached: 'asked before', predicted: 'predicted from released answers, and tested against the data', paid: 'the prediction was off, and the answer was paid for',
  plain: 'answered by itself, with noise', unchecked: 'predicted; the budget is used up, so nobody knows how far off it is',
}

export function View() {
  const { dataset } = useSession()
  const place = usePlace()
  const all = useLoaded(signal => get<{ streams: Stream[] }>(at(dataset), signal), [dataset])
  if (all.trouble) return <Warn trouble={all.trouble} />
  if (!all.value) return <Busy />
  const streams = all.value.streams
  if (streams.length === 0) {
    return <Empty whole title={`${dataset} has no streams`}><p>A stream answers a great many counting questions on one budget. The owner declares one under <code>streams</code> in the policy.</p></Empty>
  }
  const now = streams.find(s => s.name === place.query.get('stream')) ?? streams[0]
  return <>
    <h1>Streams</h1>
    {streams.length > 1 && <p>{streams.map(s => <Link key={s.name} to={withQuery({ stream: s.name })} current={s === now} class="button">{s.name}</Link>)}</p>}
    <One key={now.name} stream={now} />
  </>
}

function One({ stream }: { stream: Stream }) {
  const { me } = useSession()
  const may = me.datasets.includes(stream.dataset) // owners ask nothing, and see what was asked
  const [done, setDone] = useState(0)
  return <>
    <section>
      <h2>{stream.name}</h2>
      <p>Counts of <code>{stream.table}</code> by {stream.attributes.map(a => a.name).join(', ')}: every answer is within ±{compact(stream.error)} with probability {percent(1 - stream.beta, 2)}, for {plural(stream.queries, 'question')} together.</p>
      <p class="hint">Most are free, because they follow from released answers. A round that has to be paid for costs {epsilon(stream.round.epsilon)}, a plain answer {epsilon(stream.plain.epsilon)}.</p>
      {may && <Question stream={stream} onAnswer={() => setDone(n => n + 1)} />}
    </section>
    {me.role === 'owner' && <Books stream={stream} done={done} />}
    {may && <Table stream={stream} done={done} />}
  </>
}

function Question({ stream, onAnswer }: { stream: Stream; onAnswer: () => void }) {
  const place = usePlace()
  const [where, setWhere] = useState<Record<string, string[]>>(() => JSON.parse(place.query.get('where') ?? '{}'))
  const [answers, setAnswers] = useState<{ label: string; answer: StreamAnswer }[]>([])
  const [quote, setQuote] = useState<Quote | null>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [busy, setBusy] = useState(false)
  const label = Object.entries(where).filter(([, v]) => v.length).map(([k, v]) => `${k} in ${v.join(', ')}`).join(' and ') || 'everybody'
  const change = (name: string, values: string[]) => {
    const next = { ...where, [name]: values }
    setWhere(next)
    setQuote(null)
    go(withQuery({ where: JSON.stringify(next) }), true)
  }
  // A session is only a way to the stream, and is opened anew where it has ended.
  const send = async <T,>(what: string): Promise<T> => {
    const body = { where: Object.fromEntries(Object.entries(where).filter(([, v]) => v.length)) }
    const key = `stream:${stream.dataset}:${stream.name}`
    const open = async () => {
      const s = await post<{ id: string }>('/v1/sessions', { kind: 'stream', dataset: stream.dataset, name: stream.name })
      sessionStorage.setItem(key, s.id)
      return s.id
    }
    const id = sessionStorage.getItem(key) ?? await open()
    try {
      return await post<T>(`/v1/sessions/${id}/${what}`, body)
    } catch (e) {
      if (asTrouble(e).status !== 404) throw e
      return post<T>(`/v1/sessions/${await open()}/${what}`, body)
    }
  }
  const run = async (what: 'ask' | 'explain') => {
    setBusy(true)
    setTrouble(null)
    try {
      if (what === 'explain') setQuote(await send<Quote>('explain'))
      else {
        const answer = await send<StreamAnswer>('ask')
        setAnswers(a => [{ label, answer }, ...a])
        onAnswer()
      }
    } catch (e) {
      setTrouble(asTrouble(e))
    } finally {
      setBusy(false)
    }
  }
  return <>
    <div class="cards">
      {stream.attributes.map(a => <label key={a.name}>{a.name}
        <select multiple size={Math.min(6, a.values.length)} onChange={e => change(a.name, [...e.currentTarget.selectedOptions].map(o => o.value))}>
          {a.values.map(v => <option key={v} value={v} selected={where[a.name]?.includes(v)}>{v}</option>)}
        </select></label>)}
    </div>
    <p>How many are there of: <strong>{label}</strong></p>
    <div class="run">
      <button type="button" class="primary" disabled={busy} onClick={() => run('ask')}>{busy ? 'Asking…' : 'Ask'}</button>
      <button type="button" disabled={busy} onClick={() => run('explain')}>Price</button>
      {quote && <span class="price" role="status">at most <strong>{quote.most.epsilon ? epsilon(quote.most.epsilon) : 'free'}</strong>{quote.error !== null && ` ±${significant(quote.error, 2)}`}</span>}
    </div>
    {trouble && <Warn trouble={trouble} />}
    {answers.length > 0 && <>
      <Intervals title="Answers, newest first" confidence={answers[0].answer.confidence} points={answers.map(({ label, answer }) => ({ label, value: answer.value, error: answer.error }))} />
      <table><thead><tr><th scope="col">question</th><th scope="col" class="number">people</th><th scope="col">how</th><th scope="col" class="number">price</th></tr></thead>
        <tbody>{answers.map(({ label, answer }, i) => <tr key={i}><td>{label}</td><td class="number">{measured(answer.value, answer.error)}{answer.error !== null && <span class="error"> ± {significant(answer.error, 2)}</span>}</td><td>{sentence(ways[answer.way] ?? answer.way)}</td><td class="number">{answer.free ? 'free' : epsilon(answer.cost.epsilon)}</td></tr>)}</tbody></table>
    </>}
  </>
}

function Books({ stream, done }: { stream: Stream; done: number }) {
  const report = useLoaded(signal => get<Report>(at(stream.dataset, stream.name) + '/report', signal), [stream.name, done])
  const r = report.value
  if (!r) return report.trouble ? <Warn trouble={report.trouble} /> : <Busy />
  return <section>
    <h2>Report</h2>
    <div class="figures">
      {([['asked', r.asked], ['free: asked before', r.cached], ['free: predicted', r.predicted], ['paid', r.paid], ['plain', r.plain], ['unchecked', r.unchecked]] as const)
        .map(([name, n]) => <div class="figure" key={name}><span class="name">{name}</span><span class="value">{number(n)}</span></div>)}
    </div>
    <p>Spent {epsilon(r.spent.epsilon)}. Without the stream the same questions would have cost {epsilon(r.cache.epsilon)} if earlier answers were remembered, and {epsilon(r.naive.epsilon)} if not.</p>
  </section>
}

// same: all combinations have as many people, which is where a stream begins.
const same = (t: Synthetic) => t.rows.length > 1 && t.rows.every(r => Math.abs(r.count - t.rows[0].count) <= 1e-6 * Math.abs(t.rows[0].count))

function Table({ stream, done }: { stream: Stream; done: number }) {
  const { me } = useSession()
  const table = useLoaded(signal => get<Synthetic>(at(stream.dataset, stream.name) + '/synthetic', signal), [stream.name, done])
  if (me.role === 'owner' && table.trouble?.status === 404) return null
  return <section>
    <h2>Synthetic table</h2>
    <p class="hint">What the stream predicts for every combination, computed only from released answers: free, and good for questions like those that were asked.</p>
    {table.trouble ? <Warn trouble={table.trouble} /> : !table.value ? <Busy /> : <>
      {same(table.value) && <p class="notice">Nothing is known yet: no answer was released, so people are spread evenly over all combinations.</p>}
      <div class="rows" tabIndex={0} role="region" aria-label="Synthetic table"><table>
        <thead><tr>{table.value.columns.map(c => <th scope="col" key={c}>{c}</th>)}<th scope="col" class="number">people</th></tr></thead>
        <tbody>{[...table.value.rows].sort((a, b) => b.count - a.count).slice(0, 200).map((r, i) => <tr key={i}>{r.values.map((v, k) => <td key={k}>{v}</td>)}<td class="number">{number(r.count)}</td></tr>)}</tbody>
      </table></div>
      <p class="hint">{plural(table.value.rows.length, 'combination')}, {plural(table.value.total, 'person', 'people')}. <button type="button" class="quiet" onClick={() =>
        save(`${stream.name}.csv`, 'text/csv', asCSV([[...table.value!.columns, 'people'], ...table.value!.rows.map(r => [...r.values, r.count])]))}>CSV</button></p>
    </>}
  </section>
}
