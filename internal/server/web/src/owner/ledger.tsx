import { useEffect, useState } from 'preact/hooks'
import { get, post, Trouble } from '../api'
import { percent, plural, time } from '../format'
import { asTrouble, Busy, Copy, sentence, useLoaded, Warn } from '../ui/ui'

interface Check<R> { state: 'none' | 'running' | 'done' | 'failed'; done: number; of: number; by?: string; started?: string; finished?: string; problem?: string; result?: R }
interface Verified { records: number; charges: number; answers: number; fingerprint?: string; first: string; last: string }
interface Audit { good: boolean; records: number; decisions: number; differ: number; differences: unknown[]; doubts: unknown[] }

// Ledger shows the head, and looks through the books at a click, beside the server.
export function Ledger() {
  const head = useLoaded(signal => get<{ sequence: number; hash: string }>('/v1/ledger/head', signal), [])
  return <>
    <section>
      <h2>Head</h2>
      {head.trouble ? <Warn trouble={head.trouble} /> : !head.value ? <Busy /> : <p>Record {head.value.sequence}, <code class="long">{head.value.hash}</code> <Copy text={head.value.hash} /></p>}
      <p class="hint">Note it elsewhere from time to time: a ledger that was put back to an earlier state has a different head.</p>
    </section>
    <Run<Verified> kind="verify" title="Verify" what="Recomputes every hash and every signature." show={r =>
      <div class="notice good"><p><strong>Every record follows from those before it.</strong> {plural(r.records + 1, 'record')}, {plural(r.charges, 'charge')}, {plural(r.answers, 'answer')}, from {time(r.first)} to {time(r.last)}{r.fingerprint ? `; owner's key ${r.fingerprint}` : '; no owner has a key'}.</p></div>} />
    <Run<Audit> kind="replay" title="Replay" what="Decides every question again, by the current policy, and compares." show={r =>
      <div class={r.good ? 'notice good' : 'notice bad'}>
        <p><strong>{r.good ? 'Every decision follows from the records before it.' : 'Some decisions do not follow from the records before them.'}</strong> {plural(r.decisions, 'decision')}, {plural(r.differ, 'difference')}.</p>
        {[...r.differences, ...r.doubts].slice(0, 50).map((d, i) => <pre key={i} tabIndex={0}>{typeof d === 'string' ? d : JSON.stringify(d)}</pre>)}
      </div>} />
  </>
}

// Run begins a check and follows it.
function Run<R>({ kind, title, what, show }: { kind: string; title: string; what: string; show: (r: R) => preact.ComponentChildren }) {
  const [check, setCheck] = useState<Check<R> | null>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const attempt = async (f: () => Promise<Check<R>>) => {
    try {
      setTrouble(null)
      setCheck(await f())
    } catch (e) {
      setTrouble(asTrouble(e))
    }
  }
  const at = '/v1/ledger/' + kind
  useEffect(() => void attempt(() => get<Check<R>>(at)), [])
  const running = check?.state === 'running'
  useEffect(() => {
    if (!running) return
    const timer = setTimeout(() => void attempt(() => get<Check<R>>(at)), 500)
    return () => clearTimeout(timer)
  }, [check])
  return <section>
    <h2>{title}</h2>
    <p class="hint">{what}</p>
    <div class="run"><button type="button" class="primary" disabled={running} onClick={() => attempt(() => post<Check<R>>(at, {}))}>{running ? 'Running…' : title}</button>
      {running && <progress max={1} value={check!.of ? check!.done / check!.of : undefined} aria-label={title}>{percent(check!.of ? check!.done / check!.of : 0)}</progress>}
      {check?.finished && <span class="hint">last finished {time(check.finished)}{check.by && `, started by ${check.by}`}</span>}</div>
    {trouble && <Warn trouble={trouble} />}
    {check?.state === 'failed' && <p class="notice bad" role="alert"><strong>{sentence(check.problem ?? 'it failed')}</strong></p>}
    <div role="status">{check?.state === 'done' && check.result && show(check.result)}</div>
  </section>
}
