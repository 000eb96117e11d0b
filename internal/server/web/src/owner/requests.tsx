import { useState } from 'preact/hooks'
import { get, post, Trouble, type BudgetRequest } from '../api'
import { epsilon, time } from '../format'
import { asTrouble, useLoaded, Warn } from '../ui/ui'

// Requests are what analysts ask for: each is granted by a top-up, or declined.
export function Requests({ dataset, onGrant }: { dataset: string; onGrant: (r: BudgetRequest) => void }) {
  const requests = useLoaded(signal => get<{ requests: BudgetRequest[] }>('/v1/requests', signal), [dataset])
  const [declining, setDeclining] = useState<{ id: string; reason: string } | null>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const decline = async () => {
    if (!declining) return
    setTrouble(null)
    try {
      await post(`/v1/requests/${encodeURIComponent(declining.id)}/decline`, { reason: declining.reason })
      setDeclining(null)
      requests.reload()
    } catch (e) {
      setTrouble(asTrouble(e))
    }
  }
  const open = requests.value?.requests.filter(r => r.dataset === dataset && r.state === 'open') ?? []
  if (requests.trouble) return <Warn trouble={requests.trouble} />
  if (open.length === 0) return null
  return <section>
    <h2>Requests</h2>
    {trouble && <Warn trouble={trouble} />}
    <div class="rows" tabIndex={0} role="region" aria-label="Requests"><table><thead><tr><th scope="col">asked</th><th scope="col">analyst</th><th scope="col" class="number">epsilon</th><th scope="col">what for</th><th scope="col"><span class="unseen">actions</span></th></tr></thead>
      <tbody>{open.map(r => <tr key={r.id}><td>{time(r.created)}</td><td>{r.analyst}</td><td class="number">{epsilon(Number(r.epsilon))}</td><td>{r.reason}</td>
        <td><button type="button" onClick={() => onGrant(r)}>Top up…</button> <button type="button" class="quiet" onClick={() => setDeclining({ id: r.id, reason: '' })}>Decline…</button></td></tr>)}</tbody></table></div>
    {declining && <form class="line" onSubmit={e => { e.preventDefault(); void decline() }}>
      <label>Why, for the analyst<input value={declining.reason} required maxLength={1000} onInput={e => setDeclining({ ...declining, reason: e.currentTarget.value })} /></label>
      <button class="primary">Decline</button><button type="button" class="quiet" onClick={() => setDeclining(null)}>Cancel</button>
    </form>}
  </section>
}
