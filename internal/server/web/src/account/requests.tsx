import { useState } from 'preact/hooks'
import { call, get, post, Trouble, type BudgetRequest } from '../api'
import { epsilon, time } from '../format'
import { useSession } from '../session'
import { asTrouble, Busy, useLoaded, Warn } from '../ui/ui'

// outcome says what became of a request.
const outcome = (r: BudgetRequest) => r.state === 'open' ? 'waits for the owner' : `${r.state}${r.answer ? `: ${r.answer}` : ''}`

// Requests asks the owner for more budget, and shows what became of it.
export function Requests() {
  const { me } = useSession()
  const requests = useLoaded(signal => get<{ requests: BudgetRequest[] }>('/v1/requests', signal), [])
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const attempt = async (f: () => Promise<unknown>) => {
    setTrouble(null)
    try {
      await f()
      requests.reload()
    } catch (e) {
      setTrouble(asTrouble(e))
    }
  }
  const all = requests.value?.requests ?? []
  return <section>
    <h2>More budget</h2>
    <p class="hint">Ask the owner, who tops up your quota or declines.</p>
    {trouble && <Warn trouble={trouble} />}
    {requests.trouble ? <Warn trouble={requests.trouble} /> : !requests.value ? <Busy /> : all.length > 0 &&
      <div class="rows" tabIndex={0} role="region" aria-label="Requests"><table><thead><tr><th scope="col">asked</th><th scope="col">dataset</th><th scope="col" class="number">epsilon</th><th scope="col">what for</th><th scope="col">outcome</th><th scope="col"><span class="unseen">actions</span></th></tr></thead>
        <tbody>{all.map(r => <tr key={r.id}><td>{time(r.created)}</td><td>{r.dataset}</td><td class="number">{epsilon(Number(r.epsilon))}</td><td>{r.reason}</td><td>{outcome(r)}</td>
          <td><button type="button" class="quiet" onClick={() => attempt(() => call('DELETE', '/v1/requests/' + encodeURIComponent(r.id)))}>{r.state === 'open' ? 'Withdraw' : 'Remove'}</button></td></tr>)}</tbody></table></div>}
    <form class="line" onSubmit={e => {
      e.preventDefault()
      const form = e.currentTarget
      const data = new FormData(form)
      void attempt(async () => {
        await post(`/v1/datasets/${encodeURIComponent(String(data.get('dataset')))}/requests`, { epsilon: data.get('epsilon'), reason: data.get('reason') })
        form.reset()
      })
    }}>
      <label>Dataset<select name="dataset">{me.datasets.map(d => <option key={d}>{d}</option>)}</select></label>
      <label>Extra epsilon<input name="epsilon" type="number" min="0" step="any" required /></label>
      <label>What for<input name="reason" required maxLength={1000} /></label>
      <button>Ask for more</button>
    </form>
  </section>
}
