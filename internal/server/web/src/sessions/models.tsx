import { useEffect, useState } from 'preact/hooks'
import { dataset as loadDataset, get, post, Trouble, type Cost, type Left } from '../api'
import { Intervals } from '../chart/intervals'
import { epsilon, significant, time } from '../format'
import { go, Link, usePlace, withQuery } from '../router'
import { useSession } from '../session'
import { asTrouble, Busy, Empty, save, sentence, useLoaded, Warn } from '../ui/ui'

interface Quote { plan: { name: string; value: string }[]; method: string; why: string[]; pay: Cost; cost: Cost; currency: string; known: boolean; after: Left; affordable: boolean }
interface Feature { name: string; lo?: number; hi?: number; values?: string[] }
interface Model {
  guarantee: { epsilon: number; delta: number; words: string; theorem: string }
  method: string; loss: string; regulariser: number
  encoding: { features: Feature[]; target: Feature }
  weights: number[][] // whole numbers of steps
  step: number
  quality?: { name?: string; value?: number; error?: number | null } | Record<string, unknown>
  [k: string]: unknown
}
interface Training { id: string; model: Model; cost: Cost; remaining: Left; receipt: { sequence: number; free: boolean }; notes: string[] }
interface Line { id: string; dataset: string; analyst: string; time: string; target: string; cost: Cost }

export function View() {
  const place = usePlace()
  const id = place.path.split('/')[2]
  return id ? <Shown key={id} id={decodeURIComponent(id)} /> : <All />
}

function All() {
  const { dataset } = useSession()
  const models = useLoaded(signal => get<{ models: Line[] }>('/v1/models', signal), [dataset])
  return <>
    <h1>Models</h1>
    <Train onModel={m => go('/models/' + encodeURIComponent(m.id))} />
    <section>
      <h2>Trained before</h2>
      {models.trouble ? <Warn trouble={models.trouble} /> : !models.value ? <Busy /> : models.value.models.length === 0 ? <p class="hint">There are no models yet.</p> :
        <div class="rows" tabIndex={0} role="region" aria-label="Models"><table><thead><tr><th scope="col">predicts</th><th scope="col">dataset</th><th scope="col">who</th><th scope="col">when</th><th scope="col" class="number">price</th></tr></thead>
          <tbody>{models.value.models.map(m => <tr key={m.id}><td><Link to={'/models/' + encodeURIComponent(m.id)}>{m.target}</Link></td><td>{m.dataset}</td><td>{m.analyst}</td><td>{time(m.time)}</td><td class="number">{epsilon(m.cost.epsilon)}</td></tr>)}</tbody></table></div>}
    </section>
  </>
}

interface Wish { dataset: string; features: string; target: string; epsilon: number; evaluate?: number }

function Train({ onModel }: { onModel: (m: Training) => void }) {
  const { me, dataset } = useSession()
  const place = usePlace()
  const schema = useLoaded(signal => (me.datasets.includes(dataset) ? loadDataset(dataset, signal) : Promise.resolve(null)), [dataset])
  const [wish, setWish] = useState<Wish>({ dataset, features: place.query.get('features') ?? '', target: place.query.get('target') ?? '', epsilon: Number(place.query.get('epsilon')) || 0, evaluate: Number(place.query.get('evaluate')) || undefined })
  const [quote, setQuote] = useState<{ quote?: Quote; trouble?: Trouble; loading?: boolean }>({})
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [busy, setBusy] = useState(false)
  useEffect(() => { // a first suggestion, from the schema alone
    const d = schema.value
    if (!d || wish.features) return
    const t = d.tables.find(t => !t.public && t.person !== 'many') ?? d.tables.find(t => !t.public)
    const fit = t?.columns.filter(c => c.bounds || c.keys === 'public') ?? []
    const target = t?.columns.find(c => c.type === 'boolean') ?? fit[fit.length - 1]
    if (t && target) setWish(w => ({ ...w, dataset, features: `SELECT ${fit.filter(c => c !== target).slice(0, 5).map(c => c.name).join(', ')} FROM ${t.name}`, target: target.name, epsilon: Math.min(d.budget.max_epsilon * 0.9, d.budget.default_epsilon * 10) }))
  }, [schema.value])
  useEffect(() => {
    if (!wish.features || !wish.target || !(wish.epsilon > 0)) return
    const control = new AbortController()
    const timer = setTimeout(() => {
      go(withQuery({ dataset, features: wish.features, target: wish.target, epsilon: String(wish.epsilon), evaluate: wish.evaluate ? String(wish.evaluate) : null }), true)
      post<Quote>('/v1/models/quote', wish, { signal: control.signal }).then(
        q => control.signal.aborted || setQuote({ quote: q }), e => control.signal.aborted || setQuote({ trouble: asTrouble(e) }))
    }, 250)
    setQuote(q => ({ ...q, loading: true }))
    return () => { clearTimeout(timer); control.abort() }
  }, [JSON.stringify(wish)])
  const q = quote.quote
  const text = (key: 'features' | 'target') => ({ value: wish[key], onInput: (e: Event) => setWish({ ...wish, [key]: (e.currentTarget as HTMLInputElement).value }) })
  const amount = (key: 'epsilon' | 'evaluate') => ({ type: 'number' as const, min: '0', step: 'any', value: wish[key] ?? '', onInput: (e: Event) => setWish({ ...wish, [key]: Number((e.currentTarget as HTMLInputElement).value) || undefined }) })
  if (!me.datasets.length) return me.role === 'owner' ? null : <Empty title="You may not ask about any dataset" />
  return <section>
    <h2>Train a model</h2>
    <p class="hint">A linear classifier or regression that is private. You see the price first; the same question again gives the same model, free.</p>
    <form onSubmit={async e => {
      e.preventDefault()
      setBusy(true)
      setTrouble(null)
      try {
        onModel(await post<Training>('/v1/models', wish, { headers: { 'Idempotency-Key': crypto.randomUUID() } }))
      } catch (e) {
        setTrouble(asTrouble(e))
      } finally {
        setBusy(false)
      }
    }}>
      <label>Features<textarea rows={2} spellcheck={false} class="code" {...text('features')} /></label>
      <div class="cards">
        <label>What to predict<input spellcheck={false} class="code" {...text('target')} /></label>
        <label>Epsilon for the model<input {...amount('epsilon')} /></label>
        <label>Epsilon for an estimate of how good it is<input {...amount('evaluate')} /></label>
      </div>
      {quote.trouble && <Warn trouble={quote.trouble} />}
      {q && <dl class={quote.loading ? 'facts stale' : 'facts'}>{q.plan.map(p => <div key={p.name}><dt>{p.name}</dt><dd>{p.value}</dd></div>)}</dl>}
      <div class="run">
        <button class="primary" disabled={busy || !q || !q.affordable || !!quote.trouble}>{busy ? 'Training…' : 'Train'}</button>
        {q && <span class={q.known ? 'price free' : 'price'} role="status"><strong>{q.known ? 'free' : epsilon(q.pay.epsilon || q.cost.epsilon)}</strong> <span class="hint">{q.known ? 'already paid for' : !q.affordable ? 'more than you have left' : sentence(q.currency)}</span></span>}
      </div>
      {trouble && <Warn trouble={trouble} />}
    </form>
  </section>
}

// names of the weights, in the order in which features are encoded: one for a number, one for each
// value of a text, and one that is there for everybody.
function names(model: Model, n: number): string[] {
  const all = model.encoding.features.flatMap(f => (f.values ? f.values.map(v => `${f.name} = ${v}`) : [f.name]))
  while (all.length < n) all.push('everybody')
  return all.slice(0, n)
}

function Shown({ id }: { id: string }) {
  const got = useLoaded(signal => get<Model | Training>('/v1/models/' + encodeURIComponent(id), signal), [id])
  if (got.trouble) return <Warn trouble={got.trouble} />
  if (!got.value) return <Busy />
  const model = ('model' in got.value ? got.value.model : got.value) as Model
  const target = model.encoding.target
  const classes = model.weights.length === 1 ? [target.values?.[target.values.length - 1] ?? target.name] : target.values ?? model.weights.map((_, i) => String(i))
  const extra = Object.entries(model).find(([k]) => k === 'evaluation' || k === 'quality')
  return <>
    <p><Link to="/models">All models</Link></p>
    <h1>What predicts {target.name}</h1>
    <section>
      <p>{sentence(model.guarantee.words)}</p>
      <p class="hint">{model.method}, {model.loss} loss, regulariser {significant(model.regulariser, 3)} · {model.guarantee.theorem}</p>
      {extra && extra[1] !== null && <Quality value={extra[1]} />}
      {model.weights.map((w, k) => <Intervals key={k} title={`Weights of ${target.name}${target.values ? ' = ' + classes[k] : ''}`} confidence={1} points={w.map((steps, i) => ({ label: names(model, w.length)[i], value: steps * model.step, error: null }))} />)}
      <details><summary>Weights as a table</summary><table><thead><tr><th scope="col">feature</th>{classes.map(c => <th scope="col" class="number" key={c}>{c}</th>)}</tr></thead>
        <tbody>{names(model, model.weights[0].length).map((n, i) => <tr key={i}><td>{n}</td>{model.weights.map((w, k) => <td class="number" key={k}>{significant(w[i] * model.step, 4)}</td>)}</tr>)}</tbody></table></details>
      <p><button type="button" onClick={() => save(`model-${id.slice(0, 12)}.json`, 'application/json', JSON.stringify(model, null, 2))}>Download</button></p>
    </section>
    <Predict id={id} model={model} />
  </>
}

function Quality({ value }: { value: unknown }) {
  return <dl class="facts">{Object.entries(value as Record<string, unknown>).filter(([, v]) => typeof v !== 'object').map(([k, v]) => <div key={k}><dt>{k.replaceAll('_', ' ')}</dt><dd>{typeof v === 'number' ? significant(v, 4) : String(v)}</dd></div>)}</dl>
}

function Predict({ id, model }: { id: string; model: Model }) {
  const [said, setSaid] = useState<unknown>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  return <section>
    <h2>Predict</h2>
    <p class="hint">Free: a prediction uses only the released model.</p>
    <form onSubmit={async e => {
      e.preventDefault()
      const form = new FormData(e.currentTarget)
      const row = Object.fromEntries(model.encoding.features.map((f, i) => {
        const v = String(form.get('f' + i) ?? '')
        return [f.name, v === '' ? null : f.values ? v : Number(v)]
      }))
      try {
        setTrouble(null)
        setSaid(await post('/v1/models/' + encodeURIComponent(id) + '/predict', { rows: [row] }))
      } catch (e) {
        setTrouble(asTrouble(e))
      }
    }}>
      <div class="cards">{model.encoding.features.map((f, i) => <label key={f.name}>{f.name}
        {f.values ? <select name={'f' + i}><option value="">(none)</option>{f.values.map(v => <option key={v}>{v}</option>)}</select> : <input name={'f' + i} type="number" step="any" min={f.lo} max={f.hi} />}</label>)}</div>
      <button class="primary">Predict</button>
    </form>
    {trouble && <Warn trouble={trouble} />}
    {said !== null && <pre tabIndex={0} role="status">{JSON.stringify((said as { predictions?: unknown[] }).predictions?.[0] ?? said, null, 2)}</pre>}
  </section>
}
