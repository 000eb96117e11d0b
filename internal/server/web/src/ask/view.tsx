import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, askFree, budget, dataset as loadDataset, explain, Trouble, type Answer, type Dataset, type Explanation, type Question } from '../api'
import { epsilon, percent, rough, time } from '../format'
import { go, Link, usePlace, withQuery } from '../router'
import { useSession } from '../session'
import { asTrouble, Busy, Dialog, Empty, sentence, useLoaded, Warn } from '../ui/ui'
import type { Editor } from './editor'
import { examples } from './examples'
import { asked, forget, remember } from './history'
import { Ladder } from './ladder'
import { Price, settingsOf, Slider, useQuote, type Choice } from './price'
import { Result } from './result'
import { Save } from './save'
import { Schema } from './schema'
import { placeOf, rewritten, suggestions, wordAt } from './text'

const choiceOf = (query: URLSearchParams): Choice => {
  const error = Number(query.get('error')), price = Number(query.get('epsilon'))
  return error > 0 ? { error } : price > 0 ? { epsilon: price } : null
}

export function View() {
  const { me, dataset } = useSession()
  const may = me.datasets.includes(dataset)
  const schema = useLoaded(signal => (may || me.datasets.length ? loadDataset(dataset, signal) : Promise.resolve(null)), [dataset, may])
  if (!may && me.role === 'owner') return <Empty whole title="Owners cannot ask questions"><p>They see the budget and the ledger. To ask, sign in as an analyst whom the policy lists.</p><p><Link to="/owner">The budget</Link></p></Empty>
  if (!may && !me.datasets.length) return <Empty whole title="You may not ask about any dataset"><p>Ask the owner to list you under <code>analysts</code> in the policy.</p></Empty>
  if (schema.trouble) return <Warn trouble={schema.trouble} />
  if (!schema.value) return <Busy what="Reading the schema" />
  return <Ask key={dataset} schema={schema.value} />
}

type Outcome = { answer: Answer; question: Question; paid?: Explanation } | null

function Ask({ schema }: { schema: Dataset }) {
  const { me } = useSession()
  const place = usePlace()
  const [sql, setSql] = useState(place.query.get('q') ?? '')
  const [choice, setChoice] = useState<Choice>(() => choiceOf(place.query))
  const [outcome, setOutcome] = useState<Outcome>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [running, setRunning] = useState(false)
  const [past, setPast] = useState(false)
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor | null>(null)
  const own = useRef('') // the question that the address was last given
  const question: Question = { dataset: schema.name, sql, settings: settingsOf(choice) }
  const [again, tryAgain] = useState(0)
  const quote = useQuote(question, `${outcome?.answer.receipt.sequence}:${again}`)
  const left = useLoaded(signal => budget(schema.name, signal), [schema.name, outcome])
  const said = quote.trouble && !quote.loading && sql.trim() !== '' ? quote.trouble : null
  const refused = said && said.status >= 400 && said.status < 500 ? said : null
  const away = said && !refused ? said : null // the server, which may be back at the next try

  const run = useRef<(c?: Choice) => void>(() => {})
  run.current = async (c = choice) => {
    const text = editor.current?.text() ?? sql
    if (running || text.trim() === '' || (refused && text === sql)) return
    const q: Question = { dataset: schema.name, sql: text, settings: settingsOf(c) }
    setRunning(true)
    setTrouble(null)
    try {
      const paid = await explain(q).catch(() => undefined)
      const answer = await ask(q)
      setOutcome({ answer, question: q, paid })
      remember(me.name, { dataset: schema.name, sql: text, epsilon: answer.cost.epsilon, free: answer.receipt.free, at: new Date().toISOString() })
    } catch (e) {
      setTrouble(asTrouble(e))
    } finally {
      setRunning(false)
    }
  }

  // An address that somebody was given shows its answer, where that was paid for.
  useEffect(() => {
    if (sql.trim() === '') return
    const control = new AbortController()
    Promise.all([askFree(question, control.signal), explain(question, control.signal)]).then(
      ([answer, paid]) => control.signal.aborted || 'price' in answer || setOutcome({ answer, question, paid }), () => {})
    return () => control.abort()
  }, [])
  // The editor is the largest part of the page, and comes when everything else is there.
  useEffect(() => {
    let gone = false
    import('./editor').then(({ mount }) => {
      if (gone || !host.current) return
      editor.current = mount(host.current, sql, { change: setSql, run: () => run.current() })
      editor.current.know(schema)
      if (matchMedia('(min-width: 60rem)').matches) editor.current.focus()
    })
    return () => { gone = true; editor.current?.destroy() }
  }, [])
  useEffect(() => { // the address follows what is asked
    const timer = setTimeout(() => {
      own.current = sql.length < 6000 ? sql : ''
      go(withQuery({
        dataset: schema.name, q: own.current,
        error: choice && 'error' in choice ? String(choice.error) : null, epsilon: choice && 'epsilon' in choice ? String(choice.epsilon) : null,
      }), true)
    }, 300)
    return () => clearTimeout(timer)
  }, [sql, choice])
  useEffect(() => { // and going back brings what was there; our own address may be late, and is no news
    const q = place.query.get('q') ?? ''
    if (editor.current && q !== editor.current.text() && q !== '' && q !== sql && q !== own.current) editor.current.write(q)
  }, [place.query.get('q')])
  useEffect(() => setTrouble(null), [sql]) // it was about another text
  const other = outcome && outcome.question.sql !== sql
  const whole = refused && rewritten(sql, refused.instead)
  const at = refused?.position === undefined ? null : wordAt(sql, placeOf(sql, refused.position))
  useEffect(() => { editor.current?.mark(refused && at ? { ...at, message: sentence(refused.message) } : null) }, [refused, at?.from])

  const write = (text: string) => { editor.current?.write(text); setSql(text); editor.current?.focus() }
  const climb = (c: Choice) => { setChoice(c); run.current(c) }
  const account = left.value?.accounts.find(a => a.kind === 'analyst') ?? left.value?.accounts[0]
  const none = quote.explanation && !quote.explanation.affordable
  const wait = quote.loading ? undefined : quote.explanation?.deadline
  return <div class="ask">
    <Schema dataset={schema} onPick={n => (editor.current ? editor.current.insert(n) : write(sql + n))} />
    <div class="work">
      <h1 class="unseen">Ask</h1>
      {left.value && account && <Gauge left={left.value.remaining.epsilon} limit={account.limit.epsilon ?? account.total.epsilon} />}
      <div class="editor" ref={host} data-refused={refused ? true : undefined} />
      {refused && <div class="notice refused" role="status">
        <p><strong>{sentence(refused.message)}</strong> {refused.instead && sentence(refused.instead)}</p>
        {at && suggestions(sql.slice(at.from, at.to), refused.instead).map(s => <button type="button" key={s} onClick={() => write(sql.slice(0, at.from) + s + sql.slice(at.to))}>Write <code>{s}</code></button>)}
        {whole && <button type="button" onClick={() => write(whole)}>Write <code>{whole}</code></button>}
      </div>}
      {schema.budget.max_epsilon > 0 && <Slider question={{ dataset: schema.name, sql }} quote={quote} choice={choice} onChoose={setChoice}
        limits={{ min: schema.budget.min_epsilon, max: schema.budget.max_epsilon, usual: schema.budget.default_epsilon }} />}
      <div class="run">
        <button type="button" class="primary" disabled={running || sql.trim() === '' || !!refused || none} onClick={() => run.current()} aria-keyshortcuts="Control+Enter">{running ? 'Asking…' : 'Run'}</button>
        <Price quote={quote} />
        <span class="push" />
        <button type="button" class="quiet" onClick={() => setPast(true)}>History</button>
        <Save question={question} disabled={!quote.explanation} />
      </div>
      {running && <Busy what={wait === undefined ? 'The answer is sent with the next tick' : `The answer is sent after ${rough(wait)} s, whatever is in the data`} />}
      {away && !running && <Warn trouble={away}><button type="button" onClick={() => tryAgain(n => n + 1)}>Try again</button></Warn>}
      {trouble && trouble.message !== said?.message && <Warn trouble={trouble} />}
      {quote.explanation?.closed && <p class="notice bad">This dataset gives no new answers until its owner has released it. Earlier answers are still free.</p>}
      {other && <p class="hint long">The answer below is to <button type="button" class="quiet" onClick={() => write(outcome.question.sql)}><code>{outcome.question.sql}</code></button></p>}
      {outcome ? <Result key={outcome.answer.receipt.sequence + ':' + outcome.question.sql} answer={outcome.answer} question={outcome.question} who={me.name} paid={outcome.paid}>
        {outcome.paid && <Ladder question={{ dataset: outcome.question.dataset, sql: outcome.question.sql }} paid={outcome.paid} answer={outcome.answer} max={schema.budget.max_epsilon} onClimb={climb} />}
      </Result> : !running && !trouble && <Greeting schema={schema} onPick={write} />}
      {quote.explanation && <Plan e={quote.explanation} />}
    </div>
    <Dialog title="Questions from this browser" open={past} onClose={() => setPast(false)}>
      {asked(me.name).length === 0 ? <p class="hint">You have not asked anything yet.</p> : <ul class="history">
        {asked(me.name).filter(a => a.dataset === schema.name).map(a => <li key={a.at}><button type="button" class="quiet" onClick={() => { write(a.sql); setPast(false) }}><code>{a.sql}</code></button><span class="hint">{time(a.at)} · {a.free ? 'free' : epsilon(a.epsilon)}</span></li>)}
      </ul>}
      <p class="hint">Kept only in this browser, and forgotten when you sign out. <button type="button" class="quiet" onClick={() => { forget(me.name); setPast(false) }}>Forget now</button></p>
    </Dialog>
  </div>
}

function Gauge({ left, limit }: { left: number | null; limit: number | null }) {
  if (left === null || limit === null || limit <= 0) return null
  const part = Math.max(0, Math.min(1, left / limit))
  return <p class="gauge">
    <meter min={0} max={limit} value={left} low={limit * 0.2} optimum={limit} aria-label="What is left of the budget" />
    <span>{part < 1e-6 ? 'Your budget is used up: earlier answers stay free.' : `${epsilon(left)} of ${epsilon(limit)} left (${percent(part)})`}</span>
  </p>
}

function Greeting({ schema, onPick }: { schema: Dataset; onPick: (sql: string) => void }) {
  const all = examples(schema)
  return <section class="greeting">
    <h2>Ask about everybody</h2>
    <p>Write a question in SQL: counts, sums, averages or medians, by groups. You see the price next to the button before you pay it, in <strong>epsilon (ε)</strong>: how much the answer can reveal about any one person. A higher price buys a smaller error. The same question again is free.</p>
    {all.length > 0 && <><p>Try one: click it, look at the price, and press Run.</p><ul class="examples">{all.map(e => <li key={e.sql}><button type="button" onClick={() => onPick(e.sql)}><span>{e.title}</span><code>{e.sql}</code></button></li>)}</ul></>}
    <p class="hint"><Link to="/playground">The playground</Link> shows what noise hides and why questions cost.</p>
  </section>
}

// Plan says how the privacy of the answer is made.
function Plan({ e }: { e: Explanation }) {
  return <details class="plan"><summary>How this answer is made private</summary>
    {e.questions.map((q, i) => <div key={i}>
      <p>{sentence(q.bounds)} {q.keys.map(k => `${k.key}: ${k.rule}`).join('; ')}</p>
      <div class="rows" tabIndex={0} role="region" aria-label="Noisy numbers"><table><thead><tr><th scope="col">noisy number</th><th scope="col">noise</th><th scope="col" class="number">error ({percent(e.confidence)})</th><th scope="col">why</th></tr></thead>
        <tbody>{q.measures.map(m => <tr key={m.measure}><td><code>{m.measure}</code></td><td>{m.mechanism}</td><td class="number">{m.error === null ? 'unknown' : '±' + m.error}</td><td>{m.why}</td></tr>)}</tbody></table></div>
    </div>)}
    <p class="hint">{sentence(e.split)}{e.free.length > 0 && ` Free: ${e.free.join('; ')}.`}</p>
  </details>
}
