import { useState } from 'preact/hooks'
import { get, post, Trouble, type Cost, type Left } from '../api'
import { epsilon, number, plural, significant, time } from '../format'
import { Link, usePlace, withQuery } from '../router'
import { useSession } from '../session'
import { asTrouble, Busy, Empty, sentence, useLoaded, Warn } from '../ui/ui'

interface Holdout {
  dataset: string; name: string; labels: boolean; ids: boolean; size: number; threshold: string; noise: string; answers: number; steps: number
  round: Cost; total: Cost; confirmed_error: number; answered_error: number; promised_error?: number
}
interface Score { score: string; error: number | null; spent: boolean; free: boolean; left: number; cost: Cost; remaining: Left; notes: string[] }
interface Board { lines: { rank: number; name: string; score: string; error: number | null; time: string; spent: boolean; mine: boolean; analyst?: string }[] }

const at = (dataset: string) => `/v1/datasets/${encodeURIComponent(dataset)}/holdouts`

export function View() {
  const { dataset } = useSession()
  const place = usePlace()
  const all = useLoaded(signal => get<{ holdouts: Holdout[] }>(at(dataset), signal), [dataset])
  if (all.trouble) return <Warn trouble={all.trouble} />
  if (!all.value) return <Busy />
  const holdouts = all.value.holdouts
  if (holdouts.length === 0) {
    return <Empty whole title={`${dataset} has no holdouts`}><p>A holdout scores predictions, again and again, and limits how far repeated tries can mislead you. The owner declares one under <code>holdouts</code> in the policy. <Link to="/playground/holdout">See it at work</Link>.</p></Empty>
  }
  const now = holdouts.find(h => h.name === place.query.get('holdout')) ?? holdouts[0]
  return <>
    <h1>Holdouts</h1>
    {holdouts.length > 1 && <p>{holdouts.map(h => <Link key={h.name} to={withQuery({ holdout: h.name })} current={h === now} class="button">{h.name}</Link>)}</p>}
    <One key={now.name} holdout={now} />
  </>
}

function One({ holdout }: { holdout: Holdout }) {
  const { me } = useSession()
  const [done, setDone] = useState(0)
  const board = useLoaded(signal => get<Board>(`${at(holdout.dataset)}/${encodeURIComponent(holdout.name)}/board`, signal), [holdout.name, done])
  return <>
    <section>
      <h2>{holdout.name}</h2>
      <p>{plural(holdout.size, 'label')} that nobody sees. If your training value is within about {holdout.threshold} of theirs, you learn that and no more; otherwise the score comes from the holdout, with noise. A round costs {epsilon(holdout.round.epsilon)}; the holdout gives {plural(holdout.answers, 'answer')} in all.</p>
      <p class="hint">With probability 95 % each: a confirmed score is within {significant(holdout.confirmed_error, 2)} of the holdout’s, and one from the holdout within {significant(holdout.answered_error, 2)}. {holdout.promised_error === undefined ?
        'Nothing is promised about new data here: somebody who tries often enough can overfit this holdout.' : `However often you try, all scores are within ${significant(Math.ceil(holdout.promised_error * 1000) / 1000)} of the truth (the average over ${holdout.labels ? 'labels that were drawn anew' : 'everybody whom the people were drawn from'}), as long as nothing else has been or will be released about these people.`}</p>
      {me.datasets.includes(holdout.dataset) && <Submit holdout={holdout} onScore={() => setDone(n => n + 1)} />}
    </section>
    <section>
      <h2>Leaderboard</h2>
      {board.trouble ? <Warn trouble={board.trouble} /> : !board.value ? <Busy /> : board.value.lines.length === 0 ? <p class="hint">Nobody has submitted anything with a name yet.</p> :
        <div class="rows" tabIndex={0} role="region" aria-label="Leaderboard"><table><thead><tr><th scope="col" class="number">#</th><th scope="col">name</th><th scope="col" class="number">score</th><th scope="col">from</th><th scope="col">when</th></tr></thead>
          <tbody>{board.value.lines.map(l => <tr key={l.rank + l.name}><td class="number">{l.rank}</td><td>{l.name}{l.mine && <span class="tag"> yours</span>}{l.analyst && !l.mine && <span class="hint"> {l.analyst}</span>}</td>
            <td class="number">{number(Number(l.score))}{l.error !== null && <span class="error"> ± {significant(l.error, 2)}</span>}</td><td>{l.spent ? 'holdout' : 'training, confirmed'}</td><td>{time(l.time)}</td></tr>)}</tbody></table></div>}
    </section>
  </>
}

// parse reads predictions: one on a line, or the last column of a CSV; with ids it is the first.
function parse(text: string, ids: boolean): { predictions: (number | string)[]; ids?: string[] } {
  const lines = text.split(/\r?\n/).map(l => l.trim()).filter(Boolean)
  const cells = lines.map(l => l.split(/[,;\t]/).map(c => c.trim().replace(/^"(.*)"$/, '$1')))
  const head = cells.length > 1 && !/^-?[\d.]+$/.test(cells[0][cells[0].length - 1]) && /^-?[\d.]+$/.test(cells[1][cells[1].length - 1])
  const rows = head ? cells.slice(1) : cells
  const value = (c: string) => (/^-?\d+(\.\d+)?$/.test(c) ? Number(c) : c)
  return { predictions: rows.map(r => value(r[r.length - 1])), ids: ids ? rows.map(r => r[0]) : undefined }
}

function Submit({ holdout, onScore }: { holdout: Holdout; onScore: () => void }) {
  const [score, setScore] = useState<Score | null>(null)
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [busy, setBusy] = useState(false)
  return <form onSubmit={async e => {
    e.preventDefault()
    const form = new FormData(e.currentTarget)
    const file = form.get('file') as File
    setBusy(true)
    setTrouble(null)
    try {
      const body: Record<string, unknown> = { training: Number(form.get('training')) }
      if (form.get('name')) body.name = form.get('name')
      if (holdout.labels) {
        if (file.size > 1_000_000) throw new Trouble(0, 'size', 'this file is too large for a submission here', 'use discreet holdout on the command line')
        Object.assign(body, parse(await file.text(), holdout.ids))
      } else body.sql = form.get('sql')
      const s = await post<{ id: string }>('/v1/sessions', { kind: 'holdout', dataset: holdout.dataset, name: holdout.name })
      setScore(await post<Score>(`/v1/sessions/${s.id}/ask`, body))
      onScore()
    } catch (e) {
      setTrouble(asTrouble(e))
    } finally {
      setBusy(false)
    }
  }}>
    {holdout.labels ? <label>Predictions, one per line{holdout.ids ? ' after its id' : ', in the order of the labels'} (text or CSV)<input type="file" name="file" accept=".csv,.txt,text/*" required /></label>
      : <label>Score of a row, an SQL expression from 0 to 1<textarea name="sql" rows={2} required spellcheck={false} /></label>}
    <label>The score on your training side, from 0 to 1<input name="training" type="number" min="0" max="1" step="any" required /></label>
    <label>Name on the leaderboard (optional)<input name="name" maxLength={60} /></label>
    <div class="run"><button class="primary" disabled={busy}>{busy ? 'Scoring…' : 'Submit'}</button><span class="price hint">at most {epsilon(holdout.round.epsilon)}, free within a round that is already paid</span></div>
    {trouble && <Warn trouble={trouble} />}
    {score && <div class="notice good" role="status"><p><strong>{number(Number(score.score))}{score.error !== null && ` ± ${significant(score.error, 2)}`}</strong> · {score.free ? 'free' : epsilon(score.cost.epsilon)} · {plural(score.left, 'answer')} from the holdout left</p>
      <ul>{score.notes.map(n => <li key={n}>{sentence(n)}</li>)}</ul></div>}
  </form>
}
