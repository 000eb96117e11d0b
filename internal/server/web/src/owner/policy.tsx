import { useState } from 'preact/hooks'
import { get, post, Trouble, type Cost } from '../api'
import { epsilon, percent, significant } from '../format'
import { asTrouble, Busy, sentence, useLoaded, Warn } from '../ui/ui'

interface Quota { name: string; share?: number; epsilon?: number; limit: Cost; expires?: string; groups?: string[]; analysts?: string[] }
interface PolicyTable { name: string; public: boolean; rows: string; path: string; columns: { name: string; type: string; bounds: string; keys: string; sum: string; group: string }[] }
interface PolicyDataset {
  name: string; unit: string; neighbours: string; budget_in_words: string; promise: string[]; failures: string; release: string
  analysts: Quota[]; groups: Quota[]; tables: PolicyTable[]; streams: string[]; holdouts: string[]; warnings: string[]
}
interface Words { fingerprint?: string; datasets: PolicyDataset[] }
interface Check { ok: boolean; problems: string[]; datasets: { name: string; warnings: string[] }[]; data: string }

// Policy renders the policy readably, with its promise in words and what check finds in it.
export function Policy({ dataset }: { dataset: string }) {
  const words = useLoaded(signal => get<Words>('/v1/policy', signal), [])
  const check = useLoaded(signal => get<Check>('/v1/check', signal), [])
  if (words.trouble) return <Warn trouble={words.trouble} />
  if (!words.value) return <Busy />
  const d = words.value.datasets.find(x => x.name === dataset) ?? words.value.datasets[0]
  const found = check.value?.datasets.find(x => x.name === d.name)?.warnings ?? d.warnings
  return <>
    <section>
      <h2>{d.name}</h2>
      {d.promise.map(p => <p key={p}>{p}</p>)}
      <dl class="facts">
        {([['one person', d.unit], ['neighbours', d.neighbours], ['budget', d.budget_in_words], ['answers', d.release], ['failures', d.failures.replace(/^failures: /, '')], ['streams', d.streams.join(', ')], ['holdouts', d.holdouts.join(', ')],
          ['owner’s key', words.value.fingerprint ?? 'none: nothing can be signed over the network; make one with discreet ledger key']] as const)
          .filter(([, v]) => v).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}
      </dl>
    </section>
    <section>
      <h2>Results of the check</h2>
      {check.trouble ? <Warn trouble={check.trouble} /> : !check.value ? <Busy /> : <>
        {check.value.problems.map(p => <p key={p} class="notice bad">{sentence(p)}</p>)}
        {found.map(w => <p key={w} class="notice">{sentence(w)}</p>)}
        {check.value.ok && found.length === 0 && <p class="notice good">Nothing is wrong with the policy.</p>}
        <p class="hint">{sentence(check.value.data)}</p>
      </>}
    </section>
    <Reload onDone={() => { words.reload(); check.reload() }} />
    <section>
      <h2>Who may ask</h2>
      <Quotas title="Analysts" quotas={d.analysts} />
      {d.groups.length > 0 && <Quotas title="Groups" quotas={d.groups} />}
    </section>
    <section>
      <h2>Tables</h2>
      {d.tables.map(t => <details key={t.name} open={d.tables.length < 4}><summary><strong>{t.name}</strong> <span class="hint">{t.rows}{t.path !== '-' && `; ${t.path}`}</span></summary>
        <div class="rows" tabIndex={0} role="region" aria-label={`Columns of ${t.name}`}><table><thead><tr>{['column', 'type', 'bounds', 'keys', 'sums', 'groups'].map(h => <th scope="col" key={h}>{h}</th>)}</tr></thead>
          <tbody>{t.columns.map(c => <tr key={c.name}><td>{c.name}</td><td>{c.type}</td><td>{c.bounds}</td><td>{c.keys}</td><td>{c.sum}</td><td>{c.group}</td></tr>)}</tbody></table></div></details>)}
    </section>
  </>
}

interface Reloaded { applied: boolean; changes: { dataset: string; what: string; was: string; is: string; means: string }[] }

// Reload reads the policy's file again, and says what would change before it does.
function Reload({ onDone }: { onDone: () => void }) {
  const [said, setSaid] = useState<Reloaded | null>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [busy, setBusy] = useState(false)
  const read = async (dry_run: boolean) => {
    setBusy(true)
    setTrouble(null)
    try {
      setSaid(await post<Reloaded>('/v1/policy/reload', { dry_run }))
      if (!dry_run) onDone()
    } catch (e) {
      setTrouble(asTrouble(e))
      setSaid(null)
    } finally {
      setBusy(false)
    }
  }
  return <section>
    <h2>Read the file again</h2>
    <p class="hint">Analysts, groups, quotas, prices, views, limits, bounds and keys can change while the server runs.</p>
    <div class="run"><button type="button" disabled={busy} onClick={() => read(true)}>{busy ? 'Reading…' : 'See what would change'}</button>
      {said && !said.applied && said.changes.length > 0 && <button type="button" class="primary" disabled={busy} onClick={() => read(false)}>Apply</button>}</div>
    {trouble && <Warn trouble={trouble} />}
    {said && said.changes.length === 0 && <p class="notice good" role="status">The file says what it said before.</p>}
    {said && said.changes.length > 0 && <>
      <p class={said.applied ? 'notice good' : undefined} role="status">{said.applied ? 'Applied.' : 'What would change:'}</p>
      <div class="rows" tabIndex={0} role="region" aria-label="Changes"><table><thead><tr>{['dataset', 'what', 'was', 'is', 'means'].map(h => <th scope="col" key={h}>{h}</th>)}</tr></thead>
        <tbody>{said.changes.map((c, i) => <tr key={i}><td>{c.dataset}</td><td>{c.what}</td><td>{c.was}</td><td>{c.is}</td><td>{c.means}</td></tr>)}</tbody></table></div></>}
  </section>
}

function Quotas({ title, quotas }: { title: string; quotas: Quota[] }) {
  return <div class="rows" tabIndex={0} role="region" aria-label={title}><table><thead><tr><th scope="col">{title.toLowerCase()}</th><th scope="col" class="number">part</th><th scope="col" class="number">limit</th><th scope="col">with</th><th scope="col">until</th></tr></thead>
    <tbody>{quotas.map(q => <tr key={q.name}><td>{q.name}</td><td class="number">{q.share !== undefined ? percent(q.share, 1) : q.epsilon !== undefined ? epsilon(q.epsilon) : 'all'}</td>
      <td class="number">{q.limit.epsilon !== null ? epsilon(q.limit.epsilon) : `ρ ${significant(q.limit.rho, 3)}`}</td><td>{(q.groups ?? q.analysts ?? []).join(', ')}</td><td>{q.expires ?? ''}</td></tr>)}</tbody></table></div>
}
