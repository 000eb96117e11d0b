import { useState } from 'preact/hooks'
import { budget, type Budget as Books, type BudgetRequest } from '../api'
import { epsilon, percent } from '../format'
import { Busy, useLoaded, Warn } from '../ui/ui'
import { Requests } from './requests'
import { Signed } from './sign'
import { Spending } from './spending'

interface Promised extends Books { promise?: string[] }

// Budget shows what was spent and by whom, where it leads, and gives more.
export function Budget({ dataset }: { dataset: string }) {
  const books = useLoaded(signal => budget(dataset, signal) as Promise<Promised>, [dataset])
  const [granting, setGranting] = useState<BudgetRequest | null>(null)
  const [raised, setRaised] = useState(0)
  if (books.trouble) return <Warn trouble={books.trouble} />
  if (!books.value) return <Busy />
  const v = books.value
  return <>
    <section>
      <h2>What is promised</h2>
      {v.promise?.map(p => <p key={p}>{p}</p>)}
    </section>
    <Requests key={raised} dataset={dataset} onGrant={r => { setGranting(r); document.getElementById('topup')?.scrollIntoView() }} />
    <Spending dataset={dataset} />
    <section>
      <h2>Accounts</h2>
      <div class="rows" tabIndex={0} role="region" aria-label="Accounts"><table>
        <thead><tr><th scope="col">account</th><th scope="col" class="aside">kind</th><th scope="col">used</th><th scope="col" class="number">spent</th><th scope="col" class="number">limit</th></tr></thead>
        <tbody>{v.accounts.map(a => <tr key={a.name}><td>{a.name}</td><td class="aside">{a.kind}</td>
          <td><meter min={0} max={1} low={0.8} high={0.95} optimum={0} value={Math.min(1, a.part)} aria-label={`Spent of ${a.name}`} /> {percent(a.part)}</td>
          <td class="number">{epsilon(a.guarantee.epsilon)}</td><td class="number">{epsilon(a.limit.epsilon ?? a.total.epsilon)}</td></tr>)}</tbody></table></div>
    </section>
    <Raise key={granting?.id} dataset={dataset} accounts={v.accounts} asked={granting} onDone={() => { setRaised(raised + 1); books.reload() }} />
    <Renew dataset={dataset} onDone={books.reload} />
  </>
}

function Raise({ dataset, accounts, asked, onDone }: { dataset: string; accounts: Books['accounts']; asked: BudgetRequest | null; onDone: () => void }) {
  const [whose, setWhose] = useState(asked ? 'analyst:' + asked.analyst : '')
  const [amount, setAmount] = useState(asked ? String(asked.epsilon) : '')
  const [reason, setReason] = useState(asked?.reason ?? '')
  const [kind, name] = whose.split(/:(.*)/s)
  const body = { ...(kind === 'analyst' ? { analyst: name } : kind === 'group' ? { group: name } : {}), epsilon: amount, reason }
  return <section id="topup">
    <h2>Top up</h2>
    <p class="hint">Add budget once. This writes a record with your signature to the ledger; the server keeps running.</p>
    <div class="line">
      <label>Whose<select value={whose} onChange={e => setWhose(e.currentTarget.value)}>
        <option value="">the dataset itself: everybody is promised less</option>
        {accounts.filter(a => a.kind !== 'dataset').map(a => { const n = a.name.slice(a.name.indexOf('/') + 1).replace(/^group:/, ''); return <option key={a.name} value={`${a.kind}:${n}`}>{a.kind} {n}</option> })}
      </select></label>
      <label>Extra epsilon<input type="number" min="0" step="any" value={amount} onInput={e => setAmount(e.currentTarget.value)} /></label>
      <label>Why<input value={reason} maxLength={1000} onInput={e => setReason(e.currentTarget.value)} /></label>
    </div>
    <Signed at={`/v1/datasets/${encodeURIComponent(dataset)}/topups`} body={body} ready={Number(amount) > 0 && reason.trim() !== ''} onDone={onDone}
      summary={said => [...moved(said), ...promised(said)]} />
  </section>
}

interface Said { before?: Books['accounts']; after?: Books['accounts']; promise?: string[]; promise_before?: string[] }

// moved says of each account what it has now, and what it would have.
const moved = ({ before = [], after = [] }: Said) => after.map((a, i) =>
  `${a.name}: the limit goes from ${epsilon(before[i]?.limit.epsilon ?? before[i]?.total.epsilon ?? 0)} to ${epsilon(a.limit.epsilon ?? a.total.epsilon)}`)

// promised says what the promise would be, where it is another one.
const promised = ({ promise = [], promise_before = [] }: Said) =>
  promise.join() === promise_before.join() ? ['The promise to people stays as it is'] : promise.map(p => 'Afterwards: ' + p)

function Renew({ dataset, onDone }: { dataset: string; onDone: () => void }) {
  const [reason, setReason] = useState('')
  return <section>
    <h2>Renew</h2>
    <p class="hint">Ends the current window of a renewed budget and begins the next one, if the policy has another. Questions that are running are charged and not answered.</p>
    <label>Why<input value={reason} maxLength={1000} onInput={e => setReason(e.currentTarget.value)} /></label>
    <Signed at={`/v1/datasets/${encodeURIComponent(dataset)}/renewals`} body={{ reason }} ready={reason.trim() !== ''} onDone={onDone} summary={promised} />
  </section>
}
