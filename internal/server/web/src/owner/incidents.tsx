import { useState } from 'preact/hooks'
import { get } from '../api'
import { plural, time } from '../format'
import { Busy, useLoaded, Warn } from '../ui/ui'
import { Signed } from './sign'

interface Incidents { dataset: string; closed: boolean; shut_out: string[]; open: number; incidents: { sequence: number; time: string; analyst: string; failure: string; told: boolean; released: number }[] }

// Failures lists questions that failed after their charge, and releases whom that shut out.
export function Failures({ dataset }: { dataset: string }) {
  const at = `/v1/datasets/${encodeURIComponent(dataset)}`
  const list = useLoaded(signal => get<Incidents>(at + '/incidents', signal), [dataset])
  const [reason, setReason] = useState('')
  const [analyst, setAnalyst] = useState('')
  if (list.trouble) return <Warn trouble={list.trouble} />
  if (!list.value) return <Busy />
  const v = list.value
  return <section>
    <h2>Failures</h2>
    {v.closed ? <p class="notice bad">This dataset gives nobody new answers until you have released it.</p> : v.shut_out.length > 0 ? <p class="notice bad">Shut out: {v.shut_out.join(', ')}</p> : <p class="hint">Nobody is shut out.</p>}
    {v.incidents.length > 0 && <div class="rows" tabIndex={0} role="region" aria-label="Failures"><table><thead><tr><th scope="col" class="number">record</th><th scope="col">when</th><th scope="col">analyst</th><th scope="col">failure</th><th scope="col">told</th><th scope="col">released</th></tr></thead>
      <tbody>{v.incidents.slice(0, 100).map(i => <tr key={i.sequence}><td class="number">{i.sequence}</td><td>{time(i.time)}</td><td>{i.analyst || 'nobody'}</td><td>{i.failure}</td><td>{i.told ? 'yes' : 'no'}</td><td>{i.released ? `record ${i.released}` : ''}</td></tr>)}</tbody></table></div>}
    {v.open > 0 && <>
      <p>{plural(v.open, 'failure')} to look at. Find out what happened before you release: each release lets as many failures be told as the policy tolerates.</p>
      <div class="line"><label>Analyst<select value={analyst} onChange={e => setAnalyst(e.currentTarget.value)}><option value="">everybody</option>{v.shut_out.map(a => <option key={a}>{a}</option>)}</select></label>
        <label>Why<input value={reason} onInput={e => setReason(e.currentTarget.value)} /></label></div>
      <Signed at={at + '/releases'} body={{ ...(analyst ? { analyst } : {}), reason }} ready={reason.trim() !== ''} summary={s => [`${s.releases} failures would be released`]} onDone={list.reload} />
    </>}
  </section>
}
