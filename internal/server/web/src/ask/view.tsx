import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ask, askFree, budget, dataset as loadDataset, explain, Trouble, tryOut, type Answer, type Dataset, type Explanation, type Question } from '../api'
import { epsilon, percent, plural, rough, time } from '../format'
import { go, Link, usePlace, withQuery } from '../router'
import { useSession } from '../session'
import { asTrouble, Busy, Dialog, Empty, sentence, useLoaded, Warn } from '../ui/ui'
import type { Editor } from './editor'
import { examples } from './examples'
import { asked, forget, remember } from './history'
import { Ladder } from './ladder'
import { assumed, Price, settingsOf, Slider, spends, useQuote, valuesIn, type Choice, type Values } from './price'
import { Result } from './result'
import { Save } from './save'
import { Schema } from './schema'
import { rangesOf } from './shape'
import { placeOf, rewritten, suggestions, wordAt } from './text'

const choiceOf = (query: URLSearchParams): Choice => {
  const error = Number(query.get('error')), price = Number(query.get('epsilon'))
  const values = Math.round(Number(query.get('values')))
  return error > 0 ? (values > 0 ? { error, values } : { error }) : price > 0 ? { epsilon: price } : null
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
  const [chooses, setChooses] = useState(() => place.query.has('auto')) // limits on people's rows choose themselves
  const [outcome, setOutcome] = useState<Outcome>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [running, setRunning] = useState(false)
  const [trying, setTrying] = useState(false)
  const [past, setPast] = useState(false)
  const [dear, setDear] = useState<{ price: Explanation; choice: Choice } | null>(null) // takes most of what is left
  const [expects, setExpects] = useState<number | null>(choice && 'error' in choice && choice.values || null) // how many values a group has
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor | null>(null)
  const own = useRef('') // the question that the address was last given
  const kept = useRef<string | null>(null) // the address of the last answer, which is gone back to
  const question: Question = { dataset: schema.name, sql, settings: settingsOf(choice, chooses) }
  const [again, tryAgain] = useState(0)
  const quote = useQuote(question, `${outcome?.answer.receipt.sequence}:${again}`)
  const left = useLoaded(signal => budget(schema.name, signal), [schema.name, outcome])
  const said = quote.trouble && !quote.loading && sql.trim() !== '' ? quote.trouble : null
  const refused = said && said.status >= 400 && said.status < 500 ? said : null
  const away = said && !refused ? said : null // the server, which may be back at the next try

  const same = outcome?.question.sql === sql && outcome.paid
  const ranges = useMemo(() => (outcome ? rangesOf(outcome.answer.columns, outcome.question.sql, schema) : []), [outcome])
  const known = same ? valuesIn(outcome.answer, outcome.paid!, ranges) : null
  const values: Values = { now: expects ?? known ?? assumed, known: expects === null && known !== null, set: setExpects }

  const run = useRef<(c?: Choice, sure?: boolean) => void>(() => {})
  run.current = async (c = choice, sure = false) => {
    const text = editor.current?.text() ?? sql
    if (running || text.trim() === '' || (refused && text === sql)) return
    const q: Question = { dataset: schema.name, sql: text, settings: settingsOf(c, chooses) }
    setRunning(true)
    setTrouble(null)
    try {
      const paid = await explain(q).catch(() => undefined)
      if (paid?.affordable && spends(paid) > 0.5 && !sure) return setDear({ price: paid, choice: c })
      const answer = await ask(q)
      setOutcome({ answer, question: q, paid })
      go(addressOf(schema.name, text, c, chooses), true)
      own.current = text
      kept.current = location.search
      remember(me.name, { dataset: schema.name, sql: text, epsilon: answer.cost.epsilon, free: answer.receipt.free, at: new Date().toISOString() })
    } catch (e) {
      setTrouble(asTrouble(e))
    } finally {
      setRunning(false)
    }
  }

  const pretend = async () => {
    const text = editor.current?.text() ?? sql
    setTrying(true)
    setTrouble(null)
    try {
      const q = { dataset: schema.name, sql: text, settings: settingsOf(choice, chooses) }
      setOutcome({ answer: await tryOut(q), question: q })
    } catch (e) {
      setTrouble(asTrouble(e))
    } finally {
      setTrying(false)
    }
  }

  // An address that somebody was given, or went back to, shows its answer, where that was paid for.
  const [back, setBack] = useState<Question>(question)
  useEffect(() => {
    if (back.sql.trim() === '') return
    const control = new AbortController()
    Promise.all([askFree(back, control.signal), explain(back, control.signal)]).then(
      ([answer, paid]) => control.signal.aborted || 'price' in answer || setOutcome({ answer, question: back, paid }), () => {})
    return () => control.abort()
  }, [back])
  // The editor is the largest part of the page, and comes when everything else is there.
  useEffect(() => {
    let gone = false
    import('./editor').then(({ mount }) => {
      if (gone || !host.current) return
      editor.current = mount(host.current, sql, examples(schema)[0]?.sql ?? 'SELECT COUNT(*) FROM', { change: setSql, run: () => run.current() })
      editor.current.know(schema)
      if (matchMedia('(min-width: 60rem)').matches) editor.current.focus()
    })
    return () => { gone = true; editor.current?.destroy() }
  }, [])
  useEffect(() => { // the address follows what is asked
    const timer = setTimeout(() => {
      own.current = sql.length < 6000 ? sql : ''
      go(addressOf(schema.name, sql, choice, chooses), kept.current !== location.search, true) // an answer stays, for who goes back
    }, 300)
    return () => clearTimeout(timer)
  }, [sql, choice, chooses])
  useEffect(() => { // and going back brings what was there; our own address may be late, and is no news
    const q = place.query.get('q') ?? ''
    if (!editor.current || q === editor.current.text() || q === '' || q === sql || q === own.current) return
    const wish = choiceOf(place.query)
    editor.current.write(q)
    setChoice(wish)
    setChooses(place.query.has('auto'))
    own.current = q
    kept.current = location.search
    setBack({ dataset: schema.name, sql: q, settings: settingsOf(wish, place.query.has('auto')) })
  }, [place.query.get('q')])
  useEffect(() => setTrouble(null), [sql]) // it was about another text
  const other = outcome && outcome.question.sql !== sql
  const whole = refused && rewritten(sql, refused.instead)
  const at = refused?.position === undefined ? null : wordAt(sql, placeOf(sql, refused.position))
  const marked = at ? sql.slice(at.from, at.to) : ''
  useEffect(() => { editor.current?.mark(refused && at ? { ...at, message: sentence(refused.message, marked) } : null) }, [refused, at?.from])

  const write = (text: string) => { editor.current?.write(text); setSql(text); editor.current?.focus() }
  const climb = (c: Choice) => { setChoice(c); run.current(c) }
  const account = left.value?.accounts.find(a => a.kind === 'analyst') ?? left.value?.accounts[0]
  const none = quote.explanation && !quote.explanation.affordable
  const wait = quote.loading ? undefined : quote.explanation?.deadline
  return <div class="ask">
    <Schema dataset={schema} onPick={n => (editor.current ? editor.current.insert(n) : write(sql + n))} />
    <div class="work">
      <h1 class="unseen">Ask</h1>
      {left.value && account && <Gauge used={Math.max(...left.value.accounts.map(a => a.part))} questions={quote.explanation?.more} usual={left.value.questions}
        left={left.value.remaining.epsilon} limit={account.limit.epsilon ?? account.total.epsilon} />}
      <div class="editor" ref={host} data-refused={refused ? true : undefined} />
      {refused && <div class="notice refused" role="status">
        <p><strong>{sentence(refused.message, marked)}</strong> {refused.instead && sentence(refused.instead)}</p>
        {at && suggestions(sql.slice(at.from, at.to), refused.instead).map(s => <button type="button" key={s} onClick={() => write(sql.slice(0, at.from) + s + sql.slice(at.to))}>Write <code>{s}</code></button>)}
        {whole && <button type="button" onClick={() => write(whole)}>Write <code>{whole}</code></button>}
      </div>}
      {schema.budget.max_epsilon > 0 && <Slider question={{ dataset: schema.name, sql, settings: settingsOf(null, chooses) }} quote={quote} choice={choice} onChoose={setChoice} values={values}
        limits={{ min: schema.budget.min_epsilon, max: schema.budget.max_epsilon, usual: schema.budget.default_epsilon }} />}
      <div class="run">
        <button type="button" class="primary" disabled={running || sql.trim() === '' || !!refused || none} onClick={() => run.current()} aria-keyshortcuts="Control+Enter">{running ? 'Asking…' : 'Run'}</button>
        <Price quote={quote} values={values} />
        {schema.tables.some(t => (t.max_rows ?? 1) > 1) && <label class="choose" title="Of each person only some rows count. A noisy count of people by their rows, paid for once out of the price, finds the limits with the least error."><input type="checkbox" checked={chooses} onChange={e => setChooses(e.currentTarget.checked)} /> choose limits</label>}
        <span class="push" />
        <button type="button" class="quiet" onClick={() => setPast(true)}>History</button>
        <button type="button" class="quiet" disabled={trying || sql.trim() === '' || !!refused} onClick={pretend} title="Ask about people who do not exist: free, and the numbers mean nothing">Try on made-up people</button>
        <Save question={question} disabled={!quote.explanation} />
      </div>
      {quote.explanation?.notes?.map(n => <p key={n} class="notice" role="note">{sentence(n)}</p>)}
      {trying && <Busy what="Making people up" />}
      {running && <Busy what={wait === undefined ? 'The answer is sent with the next tick' : `The answer is sent after ${rough(wait)} s, whatever is in the data`} />}
      {away && !running && <Warn trouble={away}><button type="button" onClick={() => tryAgain(n => n + 1)}>Try again</button></Warn>}
      {trouble && trouble.message !== said?.message && <Warn trouble={trouble} />}
      {quote.explanation?.closed && <p class="notice bad">This dataset gives no new answers until its owner has released it. Earlier answers are still free.</p>}
      {other && <p class="hint long">The answer below is to <button type="button" class="quiet" onClick={() => write(outcome.question.sql)}><code>{outcome.question.sql}</code></button></p>}
      {outcome ? <Result key={outcome.answer.receipt.sequence + (outcome.answer.made_up ? 'made up' : ':') + outcome.question.sql} answer={outcome.answer} question={outcome.question} who={me.name} paid={outcome.paid} ranges={ranges}>
        {outcome.paid && <Ladder question={{ ...outcome.question, settings: settingsOf(null, chooses) }} paid={outcome.paid} answer={outcome.answer} max={schema.budget.max_epsilon} onClimb={climb} />}
      </Result> : !running && !trouble && <Greeting schema={schema} onPick={write} />}
      {quote.explanation && <Plan e={quote.explanation} />}
    </div>
    <Dialog title="This takes most of what you have left" open={dear !== null} onClose={() => setDear(null)}>
      {dear && <><p>The question costs <strong>{epsilon(dear.price.pay.epsilon || dear.price.cost.epsilon)}</strong>, {percent(spends(dear.price))} of what you have left.
        {dear.price.after.epsilon !== null && ` Afterwards you have ${epsilon(dear.price.after.epsilon)}.`} A lower price gives a larger error.</p>
      <p class="dialog-run"><button type="button" class="primary" onClick={() => { const c = dear.choice; setDear(null); run.current(c, true) }}>Ask for {epsilon(dear.price.pay.epsilon || dear.price.cost.epsilon)}</button>
        <button type="button" onClick={() => setDear(null)}>Do not ask</button></p></>}
    </Dialog>
    <Dialog title="Questions from this browser" open={past} onClose={() => setPast(false)}>
      {asked(me.name).length === 0 ? <p class="hint">You have not asked anything yet.</p> : <ul class="history">
        {asked(me.name).filter(a => a.dataset === schema.name).map(a => <li key={a.at}><button type="button" class="quiet" onClick={() => { write(a.sql); setPast(false) }}><code>{a.sql}</code></button><span class="hint">{time(a.at)} · {a.free ? 'free' : epsilon(a.epsilon)}</span></li>)}
      </ul>}
      <p class="hint">Kept only in this browser, and forgotten when you sign out. <button type="button" class="quiet" onClick={() => { forget(me.name); setPast(false) }}>Forget now</button></p>
    </Dialog>
  </div>
}

const addressOf = (dataset: string, sql: string, choice: Choice, chooses: boolean) => withQuery({
  dataset, q: sql.length < 6000 ? sql : '',
  error: choice && 'error' in choice ? String(choice.error) : null, epsilon: choice && 'epsilon' in choice ? String(choice.epsilon) : null,
  values: choice && 'error' in choice && choice.values ? String(choice.values) : null,
  auto: chooses ? 'limits' : null,
})

// Gauge says what is left: the share that is used, and for how many questions it is enough. With a
// delta, epsilon is no sum, and falls by another number than what is paid.
function Gauge({ used, questions, usual, left, limit }: { used: number; questions?: number; usual?: number; left: number | null; limit: number | null }) {
  const enough = questions !== undefined ? `, enough for about ${plural(questions, 'question')} like this` : usual !== undefined ? `, enough for about ${plural(usual, 'question')} at the usual price` : ''
  return <p class="gauge">
    <meter min={0} max={1} value={Math.min(1, used)} low={0.8} high={0.95} optimum={0} aria-label="How much of the budget is used" />
    <span>{used > 1 - 1e-6 ? 'Your budget is used up: earlier answers stay free.'
      : <><strong>{percent(used)} used</strong>{enough}{left !== null && limit !== null && ` (${epsilon(left)} of ${epsilon(limit)} left)`}</>}</span>
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
      <div class="rows" tabIndex={0} role="region" aria-label="Noisy numbers"><table><thead><tr><th scope="col">noisy number</th><th scope="col">noise</th><th scope="col" class="number">error ({percent(e.confidence, 3)})</th><th scope="col">why</th></tr></thead>
        <tbody>{q.measures.map(m => <tr key={m.measure}><td><code>{m.measure}</code></td><td>{m.mechanism}</td><td class="number">{m.error === null ? 'unknown' : '±' + m.error}</td><td>{m.why}</td></tr>)}</tbody></table></div>
    </div>)}
    {e.limits && <p class="hint">{sentence('limits: ' + e.limits)}</p>}
    <p class="hint">{sentence(e.split)}{e.free.length > 0 && ` Free: ${e.free.join('; ')}.`}</p>
  </details>
}
