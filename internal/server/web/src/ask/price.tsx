import { useEffect, useRef, useState } from 'preact/hooks'
import { explain, Trouble, type Explanation, type Question, type Settings } from '../api'
import { epsilon, plural, rough, significant } from '../format'
import { asTrouble } from '../ui/ui'

// Choice is what the analyst wants: an error or a price; neither is what the policy's default is.
export type Choice = { error: number } | { epsilon: number } | null

export const settingsOf = (c: Choice): Settings | undefined =>
  c === null ? undefined : 'error' in c ? { 'dp.error': c.error } : { 'dp.epsilon': c.epsilon }

export interface Quote { explanation?: Explanation; trouble?: Trouble; loading: boolean; of: string }

const wait = 120 // ms after the last key, so that the price is there within 200

// useQuote is the price of what is in the editor, live; again when something was paid.
export function useQuote(q: Question, again: unknown): Quote {
  const of = JSON.stringify(q)
  const [quote, set] = useState<Quote>({ loading: false, of: '' })
  useEffect(() => {
    if (q.sql.trim() === '') {
      set({ loading: false, of })
      return
    }
    const control = new AbortController()
    const timer = setTimeout(() => {
      explain(q, control.signal).then(
        explanation => control.signal.aborted || set({ explanation, loading: false, of }),
        e => control.signal.aborted || set({ trouble: asTrouble(e), loading: false, of }),
      )
    }, wait)
    set(old => ({ ...old, loading: true }))
    return () => { clearTimeout(timer); control.abort() }
  }, [of, again])
  return quote
}

// noisy are the noisy numbers with an error, the largest first, which is the one that dp.error sets;
// of those with the same, as of twins, the one with the shortest name.
const noisy = (e: Explanation | undefined) => {
  const all = (e?.questions.flatMap(q => q.measures) ?? []).filter(m => m.error !== null)
    .sort((a, b) => b.error! - a.error! || a.measure.length - b.measure.length)
  return all.filter((m, i) => i === 0 || m.error !== all[i - 1].error)
}
const leading = (e: Explanation | undefined) => noisy(e)[0]
export const errorOf = (e: Explanation | undefined): number | null => leading(e)?.error ?? null

// partOf is the name of what the error is of, where the answer has more than it. An average is made
// of a noisy sum: how exact it is follows from how many there are, which nobody knows before.
export function partOf(e: Explanation | undefined): string | null {
  return e && (noisy(e).length > 1 || averaged(e)) ? leading(e)?.measure ?? null : null
}
export const averaged = (e: Explanation) => e.free.some(f => f.startsWith('averages'))

const round = (x: number) => Number(x.toPrecision(2))

interface Props { question: Question; quote: Quote; choice: Choice; onChoose: (c: Choice) => void; limits: { min: number; max: number; usual: number } }

const steps = 100

// Slider has one knob and two scales: what it costs below, and how exact it is above. It writes an
// error unless somebody prefers prices.
export function Slider({ question, quote, choice, onChoose, limits }: Props) {
  const [byPrice, setByPrice] = useState(choice !== null && 'epsilon' in choice)
  const { min, max, usual } = limits
  const low = Math.max(min, Math.min(usual / 20, max / 100))
  const at = (e: number) => Math.round((steps * Math.log(e / low)) / Math.log(max / low))
  const of = (step: number) => round(low * (max / low) ** (step / steps))
  const ticks = Array.from({ length: 5 }, (_, i) => of((i * steps) / 4))
  const errors = useErrors(question, ticks, quote)
  const now = quote.explanation?.cost.epsilon || (choice && 'epsilon' in choice ? choice.epsilon : usual)
  const error = errorOf(quote.explanation)
  const part = partOf(quote.explanation)
  // Between ticks errors are taken from the nearest one; twice the price is half the error.
  const errorAt = (e: number) => {
    const k = ticks.reduce((best, t, i) => (Math.abs(Math.log(t / e)) < Math.abs(Math.log(ticks[best] / e)) ? i : best), 0)
    return errors[k] === null || errors[k] === undefined ? null : round((errors[k]! * ticks[k]) / e)
  }
  const can = quote.explanation !== undefined
  return <div class="slider" data-off={!can || undefined}>
    <span class="name" aria-hidden="true">error</span>
    <div class="scale above" aria-hidden="true">{errors.map((e, i) => <span key={i}>{e === null || e === undefined ? '' : '±' + rough(e)}</span>)}</div>
    <input type="range" min="0" max={steps} step="1" disabled={!can} value={Math.max(0, Math.min(steps, at(now)))}
      aria-label="Error and price" aria-valuetext={`${error === null ? '' : `error ±${rough(error)}, `}price ${epsilon(now)}`}
      onInput={e => {
        const price = of(Number(e.currentTarget.value))
        const wanted = byPrice ? null : errorAt(price)
        onChoose(wanted === null ? { epsilon: price } : { error: wanted })
      }} />
    <span class="name" aria-hidden="true">price, ε</span>
    <div class="scale below" aria-hidden="true">{ticks.map(t => <span key={t}>{significant(t, 2)}</span>)}</div>
    <div class="choice">
      <label><input type="radio" name="by" checked={!byPrice} onChange={() => { setByPrice(false); if (error !== null && choice) onChoose({ error }) }} /> by error</label>
      <label><input type="radio" name="by" checked={byPrice} onChange={() => { setByPrice(true); if (choice) onChoose({ epsilon: round(now) }) }} /> by price</label>
      {choice && <button type="button" class="quiet" onClick={() => onChoose(null)}>usual price</button>}
      {choice && <code>{'error' in choice ? `SET dp.error = ${choice.error}` : `SET dp.epsilon = ${choice.epsilon}`}</code>}
      {quote.explanation && part && <span class="why">The error is for <code>{part}</code>.{averaged(quote.explanation) && ' For an average, divide it by the number of values; its own interval comes with the answer.'}</span>}
    </div>
  </div>
}

// useErrors are the errors at the prices of the scale, of the question as it stands.
function useErrors(q: Question, prices: number[], quote: Quote): (number | null)[] {
  const [errors, set] = useState<(number | null)[]>([])
  const known = useRef('')
  const good = quote.explanation !== undefined && !quote.loading && quote.of.startsWith(JSON.stringify(q).slice(0, -1)) // of this very text
  useEffect(() => {
    const key = q.dataset + '\n' + q.sql
    if (!good || known.current === key) return
    const control = new AbortController()
    Promise.all(prices.map(p => explain({ ...q, settings: { 'dp.epsilon': p } }, control.signal).then(errorOf, () => null)))
      .then(all => { if (!control.signal.aborted) { known.current = key; set(all) } })
    return () => control.abort()
  }, [q.dataset, q.sql, good])
  return prices.map((_, i) => errors[i] ?? null)
}

// Price stands at the button: what it costs, what it is good for, what is left.
export function Price({ quote }: { quote: Quote }) {
  const e = quote.explanation
  if (!e) return <span class="price idle" role="status">{quote.loading ? 'pricing…' : ''}</span>
  const error = errorOf(e)
  const part = partOf(e)
  const free = e.pay.epsilon === 0 && e.pay.rho === 0
  const left = e.after.epsilon
  return <span class={`price${free ? ' free' : ''}${quote.loading ? ' stale' : ''}`} role="status">
    <strong>{free ? 'free' : epsilon(e.pay.epsilon || e.cost.epsilon)}</strong>
    {part ? noisy(e).reverse().slice(0, 3).map(m => <span key={m.measure}> ±{rough(m.error!)} on <code>{m.measure}</code></span>) : error !== null && <span> ±{rough(error)}</span>}
    <span class="hint">{free ? (e.known ? ' already paid for' : ' nothing private is read') : !e.affordable ? ' more than you have left' : left !== null ? ` ${epsilon(left)} left afterwards` : ''}
      {!free && e.affordable && e.more !== undefined ? `, enough for ${plural(Math.max(e.more - 1, 0), 'more such question')}` : ''}
      {!free && e.affordable && e.deadline !== undefined ? `, answered after ${rough(e.deadline)} s` : ''}</span>
  </span>
}
