import { useState } from 'preact/hooks'
import { get, Trouble } from '../api'
import { plural } from '../format'
import { asTrouble, Busy, Copy, useLoaded, Warn } from '../ui/ui'

interface Audit { good: boolean; head: { sequence: number; hash: string }; records: number; decisions: number; differ: number; differences: unknown[]; doubts: unknown[] }

// Ledger shows the head, and looks through the books at a click.
export function Ledger() {
  const head = useLoaded(signal => get<{ sequence: number; hash: string }>('/v1/ledger/head', signal), [])
  const [audit, setAudit] = useState<Audit | null>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [busy, setBusy] = useState(false)
  return <section>
    <h2>Ledger</h2>
    {head.trouble ? <Warn trouble={head.trouble} /> : !head.value ? <Busy /> : <p>Head: record {head.value.sequence}, <code class="long">{head.value.hash}</code> <Copy text={head.value.hash} /></p>}
    <p class="hint">Write the head down elsewhere from time to time: a ledger that was put back to an earlier state has another one.</p>
    <div class="run"><button type="button" class="primary" disabled={busy} onClick={async () => {
      setBusy(true)
      setTrouble(null)
      try {
        setAudit(await get<Audit>('/v1/audit'))
        head.reload()
      } catch (e) {
        setTrouble(asTrouble(e))
      } finally {
        setBusy(false)
      }
    }}>{busy ? 'Verifying and replaying…' : 'Verify and replay'}</button></div>
    {busy && <Busy what="Recomputing every hash and every decision" />}
    {trouble && <Warn trouble={trouble} />}
    {audit && <div class={audit.good ? 'notice good' : 'notice bad'} role="status">
      <p><strong>{audit.good ? 'Everything is as it follows.' : 'Something is not as it follows.'}</strong> {plural(audit.records, 'record')}, {plural(audit.decisions, 'decision')}, {plural(audit.differ, 'difference')}.</p>
      {[...audit.differences, ...audit.doubts].slice(0, 50).map((d, i) => <pre key={i}>{typeof d === 'string' ? d : JSON.stringify(d)}</pre>)}
    </div>}
  </section>
}
