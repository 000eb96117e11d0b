import { useEffect, useRef, useState } from 'preact/hooks'
import { explain, Trouble, type Answer, type Explanation, type Question, type Settings } from '../api'
import type { Range } from '../chart/axis'
import { epsilon, number, plural, rough, significant } from '../format'
import { asTrouble } from '../ui/ui'

// Choice is what the analyst wants: an error or a price; neither is what the policy's default is.
// An average has an error if it is of so many values.
export type Choice = { error: number; values?: number } | { epsilon: number } | null

// settingsOf are the settings for it, and for limits that are to be chosen.
export function settingsOf(c: Choice, chooses: boolean): Settings | undefined {
  const all: Settings = chooses ? { 'dp.max_rows': 'auto', 'dp.max_groups': 'auto' } : {}
  if (c !== null && 'error' in c) {
    all['dp.error'] = c.error
    if (c.values) all['dp.values'] = c.values
  }
  else if (c !== null) all['dp.epsilon'] = c.epsilon
  return Object.keys(all).length > 0 ? all : undefined
}

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

// partOf is the name of what the error is of, where the answer has more than it.
export function partOf(e: Explanation | undefined): string | null {
  return e && noisy(e).length > 1 ? leading(e)?.measure ?? null : null
}
const averages = (e: Explanation) => e.questions.flatMap(q => q.averages ?? [])
export const averaged = (e: Explanation) => averages(e).length > 0

// An average of n values is off by about an n-th of the error of one. How many there are nobody knows before:
// an earlier answer tells about how many, and else a number is assumed.
const errorOfOne = (e: Explanation) => Math.max(...averages(e).map(a => a.error_of_one))
const expected = (e: Explanation, values: number) => (averaged(e) ? Math.max(...averages(e).map(a => within(a, values))) : errorOf(e))

// within is what the error is expected to be: never more than the bounds leave, wherever the noise would be.
const within = (a: { error_of_one: number; error_most: number }, values: number) => Math.min(a.error_of_one / values, a.error_most)
const told = (e: Explanation, values: number) => averages(e).every(a => a.error_of_one / values < a.error_most)

// averageColumn is the column of an answer with the least error of those that have not that of a count or a sum:
// sums that are made of an average's parts have larger ones.
export function averageColumn(a: Answer, paid: Explanation): number {
  const plain = paid.questions.flatMap(q => q.measures.map(m => m.error)).filter(x => x !== null)
  const others = a.columns.map((_, i) => i).filter(i => a.errors?.some(row => row[i] !== null && !plain.some(x => Math.abs(x! - row[i]!) <= 1e-9 * x!)))
  return others.length ? others.reduce((best, i) => (widest(a, i)! < widest(a, best)! ? i : best)) : -1
}

// widest is the largest error of a column.
export const widest = (a: Answer, column: number): number | null => {
  const all = a.errors?.map(row => row[column]).filter(x => typeof x === 'number') ?? []
  return all.length ? Math.max(...all) : null
}

// valuesIn is how many values the smallest group of an answer has, by the error of its average; null
// where that is as wide as its bounds, and tells nothing.
export function valuesIn(a: Answer, paid: Explanation, ranges: (Range | null)[]): number | null {
  const column = averageColumn(a, paid), range = ranges[column]
  const own = averaged(paid) ? widest(a, column) : null
  const n = own && !(range && own > (range.high - range.low) / 4) ? Number((errorOfOne(paid) / own).toPrecision(2)) : 0
  return n >= 1 ? n : null
}
export const assumed = 1000

// spends is the share of what is left that a question takes.
export function spends(e: Explanation): number {
  const pure = e.questions.every(q => q.known || q.cost.epsilon !== null) // else it is paid in rho alone
  const shares = [[pure ? e.pay.epsilon : 0, e.remaining.pure], [e.pay.rho, e.remaining.rho]].filter(([pay, left]) => pay && left).map(([pay, left]) => pay! / left!)
  return shares.length ? Math.min(...shares) : 0
}

const round = (x: number) => Number(x.toPrecision(2))

// Values is how many values a group has, for averages: known is from an answer.
export interface Values { now: number; known: boolean; set: (n: number) => void }

interface Props { question: Question; quote: Quote; choice: Choice; onChoose: (c: Choice) => void; values: Values; limits: { min: number; max: number; usual: number } }

const steps = 100

// Slider has one knob and two scales: what it costs below, and how exact it is above. It writes an
// error unless somebody prefers prices, or no error can be asked for.
export function Slider({ question, quote, choice, onChoose, values, limits }: Props) {
  const [byPrice, setByPrice] = useState(choice !== null && 'epsilon' in choice)
  const { min, max, usual } = limits
  // Half of a price may pay for choosing limits, and neither half is less than the least price.
  const chooses = Object.values(question.settings ?? {}).includes('auto')
  const least = chooses ? Math.max(min, Math.min(2 * min, max / 2)) : min
  const low = Math.max(least, Math.min(usual / 20, max / 100))
  const at = (e: number) => Math.round((steps * Math.log(e / low)) / Math.log(max / low))
  const of = (step: number) => round(low * (max / low) ** (step / steps))
  const ticks = Array.from({ length: 5 }, (_, i) => of((i * steps) / 4))
  const all = useErrors(question, ticks, quote)
  const errors = all.map(e => (e ? expected(e, values.now) : null))
  const now = quote.explanation?.cost.epsilon || (choice && 'epsilon' in choice ? choice.epsilon : usual)
  const mean = !!quote.explanation && averaged(quote.explanation)
  const byError = (error: number) => {
    if (mean) values.set(values.now) // they stay what the wish is for, whatever an answer has
    onChoose(mean ? { error, values: values.now } : { error })
  }
  const error = quote.explanation ? expected(quote.explanation, values.now) : null
  const part = partOf(quote.explanation)
  const reason = quote.explanation?.no_error // why only a price can be chosen
  const expect = (n: number) => {
    if (!(n > 0)) return
    values.set(n)
    if (choice && 'error' in choice) onChoose({ ...choice, values: n })
  }
  useEffect(() => { // a wish for an error that this question cannot have
    if (choice && 'error' in choice && /^dp\.error (cannot|needs)/.test(quote.trouble?.message ?? '')) onChoose(null)
  }, [quote.trouble])
  // Between ticks errors are taken from the nearest one; twice the price is half the error.
  const errorAt = (e: number) => {
    const k = ticks.reduce((best, t, i) => (Math.abs(Math.log(t / e)) < Math.abs(Math.log(ticks[best] / e)) ? i : best), 0)
    if (errors[k] === null || errors[k] === undefined || !told(all[k]!, values.now)) return null // the bounds say it, and not the price
    return round((errors[k]! * ticks[k]) / e)
  }
  const can = quote.explanation !== undefined || (choice !== null && all.some(e => e !== null))
  return <div class="slider" data-off={!can || undefined}>
    <span class="name" aria-hidden="true">error</span>
    <div class="scale above" aria-hidden="true">{errors.map((e, i) => <span key={i}>{e === null || e === undefined ? '' : '±' + rough(e)}</span>)}</div>
    <input type="range" min="0" max={steps} step="1" disabled={!can} value={Math.max(0, Math.min(steps, at(now)))}
      aria-label="Error and price" aria-valuetext={`${error === null ? '' : `error ${mean ? 'about ' : ''}±${rough(error)}, `}price ${epsilon(now)}`}
      onInput={e => {
        const price = of(Number(e.currentTarget.value))
        const wanted = byPrice || reason ? null : errorAt(price)
        if (wanted === null) onChoose({ epsilon: price })
        else byError(wanted)
      }} />
    <span class="name" aria-hidden="true">price, ε</span>
    <div class="scale below" aria-hidden="true">{ticks.map(t => <span key={t}>{significant(t, 2)}</span>)}</div>
    <div class="choice">
      {!reason && <><label><input type="radio" name="by" checked={!byPrice} onChange={() => { setByPrice(false); if (error !== null && choice) byError(error) }} /> by error</label>
      <label><input type="radio" name="by" checked={byPrice} onChange={() => { setByPrice(true); if (choice) onChoose({ epsilon: round(now) }) }} /> by price</label></>}
      {choice && <button type="button" class="quiet" onClick={() => onChoose(null)}>usual price</button>}
      {choice && <code>{'error' in choice ? `SET dp.error = ${choice.error}` + (choice.values ? `; SET dp.values = ${choice.values}` : '') : `SET dp.epsilon = ${choice.epsilon}`}</code>}
      {mean ? <label class="why">How exact an average is depends on how many values a group has. The errors are about those of a group with{' '}
        <input type="number" min="1" step="1" value={values.now} aria-label="Values in a group" onInput={e => expect(Math.round(Number(e.currentTarget.value)))} />
        {' '}values{values.known ? ', as the smallest in the answer below has.' : ', which is assumed: write what you expect.'}</label>
        : reason ? <span class="why">You choose a price here: {reason}{error === null && quote.explanation?.limits && ', and nobody knows the error before they are'}.</span>
          : quote.explanation && part && <span class="why">The error is for <code>{part}</code>.</span>}
    </div>
  </div>
}

// useErrors are what there is to say at the prices of the scale, of the question as it stands.
function useErrors(q: Question, prices: number[], quote: Quote): (Explanation | null)[] {
  const [errors, set] = useState<(Explanation | null)[]>([])
  const known = useRef('')
  const good = quote.explanation !== undefined && !quote.loading && quote.of.startsWith(JSON.stringify({ dataset: q.dataset, sql: q.sql }).slice(0, -1)) // of this very text
  useEffect(() => {
    const key = JSON.stringify([q, quote.explanation?.limits]) // limits are chosen, and errors known, when something was paid
    if (!good || known.current === key) return
    const control = new AbortController()
    Promise.all(prices.map(p => explain({ ...q, settings: { ...q.settings, 'dp.epsilon': p } }, control.signal).catch(() => null)))
      .then(all => { if (!control.signal.aborted) { known.current = key; set(all) } })
    return () => control.abort()
  }, [JSON.stringify(q), quote.explanation?.limits, good])
  return prices.map((_, i) => errors[i] ?? null)
}

// Price stands at the button: what it costs, what it is good for, what is left.
export function Price({ quote, values }: { quote: Quote; values: Values }) {
  const e = quote.explanation
  if (!e) return <span class="price idle" role="status">{quote.loading ? 'pricing…' : ''}</span>
  const error = errorOf(e)
  const free = e.pay.epsilon === 0 && e.pay.rho === 0
  const left = e.after.epsilon
  const means = averages(e)
  const others = noisy({ ...e, questions: e.questions.map(q => ({ ...q, measures: q.measures.filter(m => !means.some(a => a.sums.includes(m.measure))) })) })
  return <span class={`price${free ? ' free' : ''}${quote.loading ? ' stale' : ''}`} role="status">
    <strong>{free ? 'free' : epsilon(e.pay.epsilon || e.cost.epsilon)}</strong>
    {!e.known && means.slice(0, 2).map(a => <span key={a.average}> ≈ ±{rough(within(a, values.now))} on <code>{a.average}</code></span>)}
    {means.length > 0 ? !e.known && <span class="hint"> of {number(values.now)} values</span>
      : partOf(e) ? others.reverse().slice(0, 3).map(m => <span key={m.measure}> ±{rough(m.error!)} on <code>{m.measure}</code></span>) : error !== null && <span> ±{rough(error)}</span>}
    <span class="hint">{free ? (e.known ? ' already paid for' : ' nothing private is read') : !e.affordable ? ' more than you have left' : ''}
      {!free && e.affordable && e.more !== undefined ? `, enough left for ${plural(Math.max(e.more - 1, 0), 'more such question')}` : ''}
      {!free && e.affordable && left !== null ? `, ${epsilon(left)} left afterwards` : ''}
      {!free && e.affordable && e.deadline !== undefined ? `, answered after ${rough(e.deadline)} s` : ''}</span>
  </span>
}
