import { useState } from 'preact/hooks'
import { get, type Account, type Cost } from '../api'
import { Stack } from '../chart/stack'
import { day, epsilon, percent, plural, significant } from '../format'
import { Busy, sentence, Tabs, useLoaded, Warn } from '../ui/ui'

interface Span { start: string; charges: number; cost: Cost; analysts: { analyst: string; charges: number; cost: Cost }[] }
interface Lasting extends Account { questions?: number; forecast: { status: string; charges: number; per_day: number; days_left?: number; until?: string; claim?: string } }
interface Over {
  claim: 'epsilon' | 'rho'; bucket: string; from: string; to: string; spans: Span[]; accounts: Lasting[]
  window?: { number: number; windows: number; every: string; due?: string; overdue: boolean }
  alerts: { account: string; kind: string; text: string; percent?: number }[]
}

// Spending draws what each analyst has spent over time, and where the pace leads.
export function Spending({ dataset }: { dataset: string }) {
  const [bucket, setBucket] = useState<'hour' | 'day' | 'week'>('day')
  const over = useLoaded(signal => get<Over>(`/v1/datasets/${encodeURIComponent(dataset)}/spending?bucket=${bucket}`, signal), [dataset, bucket])
  if (over.trouble) return <Warn trouble={over.trouble} />
  if (!over.value) return <Busy />
  const v = over.value
  const names = [...new Set(v.spans.flatMap(s => s.analysts.map(a => a.analyst)))].sort()
  const whole = v.accounts.find(a => a.kind === 'dataset') ?? v.accounts[0]
  // What was spent before the first span is below all of them.
  const inside = v.spans.reduce((sum, s) => sum + s.cost[v.claim], 0)
  const before = Math.max(0, (whole?.spent[v.claim] ?? 0) - inside)
  const layers = names.map(name => {
    let sum = 0
    return { name, values: v.spans.map(s => (sum += s.analysts.find(a => a.analyst === name)?.cost[v.claim] ?? 0)) }
  })
  if (before > 1e-12) layers.unshift({ name: 'earlier', values: v.spans.map(() => before) })
  const limit = whole?.limit[v.claim] ?? undefined
  const end = new Date(v.spans[v.spans.length - 1]?.start ?? v.to)
  const total = layers.reduce((sum, l) => sum + (l.values[l.values.length - 1] ?? 0), 0)
  const days = whole?.forecast.days_left
  const ahead = days !== undefined && limit !== undefined && whole.forecast.claim === v.claim ? Math.min(days, 30) : undefined
  const forecast = ahead === undefined ? undefined : { at: new Date(+end + ahead * 86_400_000), total: total + whole!.forecast.per_day * ahead }
  return <section>
    <h2>Over time</h2>
    {v.alerts.map(a => <p key={a.text} class={a.kind === 'spent' && (a.percent ?? 0) >= 95 ? 'notice bad' : 'notice'} role="status">{sentence(a.text)}</p>)}
    <Tabs name="Spans" tabs={[['hour', 'Hours'], ['day', 'Days'], ['week', 'Weeks']]} now={bucket} onChoose={setBucket} />
    {names.length === 0 && before === 0 ? <p class="hint">Nothing has been spent yet.</p> : <>
      <Stack title={`Spent by analyst, in ${v.claim}`} of={v.claim} at={v.spans.map(s => new Date(s.start))} layers={layers} limit={limit} forecast={forecast} />
      <details><summary>The numbers</summary><div class="rows" tabIndex={0} role="region" aria-label="Spent over time"><table><thead><tr><th scope="col">from</th><th scope="col" class="number">questions</th>{names.map(n => <th scope="col" class="number" key={n}>{n}</th>)}</tr></thead>
        <tbody>{v.spans.filter(s => s.charges > 0).reverse().map(s => <tr key={s.start}><td>{bucket === 'hour' ? new Date(s.start).toLocaleString() : day(s.start)}</td><td class="number">{s.charges}</td>{names.map(n => <td class="number" key={n}>{significant(s.analysts.find(a => a.analyst === n)?.cost[v.claim] ?? 0, 3)}</td>)}</tr>)}</tbody></table></div></details>
    </>}
    {v.window && <p class={v.window.overdue ? 'notice' : 'hint'}>Window {v.window.number} of {v.window.windows}, renewed every {v.window.every}{v.window.due ? `; the next is due on ${v.window.due}` : ''}.</p>}
    <ul>{v.accounts.map(a => <li key={a.name}><strong>{a.name}</strong>: {percent(a.part)} used, {a.questions !== undefined && `about ${plural(a.questions, 'question')} left, `}{a.left.epsilon !== null ? `${epsilon(a.left.epsilon)} left` : `${significant(a.left.rho ?? 0, 3)} of rho left`}      {a.forecast.until ? `; at the current pace it lasts until ${a.forecast.until}` : a.forecast.charges === 0 ? '; nobody is asking at present' : ''}.</li>)}</ul>
  </section>
}
