import { useEffect, useState } from 'preact/hooks'
import { get, Trouble, type Cost } from '../api'
import { epsilon, priceOf, significant, time } from '../format'
import { go, usePlace, withQuery } from '../router'
import { asTrouble, Busy, Warn } from '../ui/ui'

interface Charge { sequence: number; hash: string; time: string; analyst: string; dataset: string; query: string; mechanisms: string; cost: Cost }
interface Page { receipts: Charge[]; next?: number }

// noiseOf are the kinds of noise that a charge names, without their parameters.
function noiseOf(mechanisms: string): string {
  const named = mechanisms.replace(/\([^()]*\)/g, '')
  const known = named.match(/weighed keys|keys|quantiles|gaussian|laplace|radial|averaged|running totals|exponential|permute-and-flip|noisy max|top \d+|sharpening record \d+/g)
  return known ? [...new Set(known)].join(', ') : named.slice(0, 60)
}

// Questions lists what was charged, newest first. The ledger has no texts: their constants can be
// about a person.
export function Questions({ dataset }: { dataset: string }) {
  const place = usePlace()
  const analyst = place.query.get('analyst') ?? '', since = place.query.get('since') ?? '', hash = place.query.get('hash') ?? ''
  const [rows, setRows] = useState<Charge[] | null>(null)
  const [next, setNext] = useState<number | undefined>()
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const load = async (before?: number) => {
    const q = new URLSearchParams({ newest: 'true', limit: '50', dataset })
    if (analyst) q.set('analyst', analyst)
    if (since) q.set('since', since + 'T00:00:00Z')
    if (hash) q.set(place.query.get('of') === 'receipt' ? 'receipt' : 'query', hash.toLowerCase())
    if (before !== undefined) q.set('before', String(before))
    try {
      setTrouble(null)
      const page = await get<Page>('/v1/receipts?' + q)
      setRows(r => [...(before === undefined ? [] : r ?? []), ...page.receipts])
      setNext(page.next)
    } catch (e) {
      setTrouble(asTrouble(e))
    }
  }
  useEffect(() => {
    const timer = setTimeout(() => load(), 150)
    return () => clearTimeout(timer)
  }, [dataset, analyst, since, hash, place.query.get('of')])
  const set = (k: string) => (e: Event) => go(withQuery({ [k]: (e.currentTarget as HTMLInputElement).value }), true)
  return <section>
    <h2>Questions</h2>
    <div class="line">
      <label>Analyst<input type="search" value={analyst} onInput={set('analyst')} /></label>
      <label>Since<input type="date" value={since} onInput={set('since')} /></label>
      <label>Hash begins with<input type="search" value={hash} pattern="[0-9a-fA-F]*" onInput={set('hash')} /></label>
      <label>of the<select value={place.query.get('of') ?? 'query'} onChange={set('of')}><option value="query">question</option><option value="receipt">receipt</option></select></label>
    </div>
    {trouble && <Warn trouble={trouble} />}
    {!rows ? <Busy /> : rows.length === 0 ? <p class="hint">No charges match.</p> : <>
      <div class="rows" tabIndex={0} role="region" aria-label="Questions"><table><thead><tr><th scope="col" class="number">record</th><th scope="col">when</th><th scope="col">analyst</th><th scope="col" class="number">cost</th><th scope="col">noise</th><th scope="col">question</th></tr></thead>
        <tbody>{rows.map(c => <tr key={c.sequence}><td class="number">{c.sequence}</td><td>{time(c.time)}</td><td>{c.analyst}</td><td class="number"><span title={c.cost.rho ? `rho ${significant(c.cost.rho, 4)}` : undefined}>{epsilon(priceOf(c.cost))}</span>{c.cost.delta > 0 && <span class="hint"> δ {significant(c.cost.delta, 2)}</span>}</td><td>{noiseOf(c.mechanisms)}</td><td><code title={c.query}>{c.query.slice(0, 12)}…</code></td></tr>)}</tbody></table></div>
      {next !== undefined && <button type="button" onClick={() => load(next)}>Older</button>}
    </>}
    <p class="hint">The ledger does not hold the text of a question: its constants can be about a person. <code>--log-texts</code> writes texts into the server's log.</p>
  </section>
}
