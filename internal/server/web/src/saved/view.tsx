import { useEffect, useState } from 'preact/hooks'
import { call, get, post, Trouble } from '../api'
import { time } from '../format'
import { go, Link, usePlace } from '../router'
import { useSession } from '../session'
import { asTrouble, Busy, Dialog, Empty, useLoaded, Warn } from '../ui/ui'
import { address, type About, type Dashboard, type Kept } from './types'

export function View() {
  const place = usePlace()
  const id = place.path.split('/')[2]
  return id ? <Open id={decodeURIComponent(id)} /> : <All />
}

// Open goes to where a saved question is asked.
function Open({ id }: { id: string }) {
  const kept = useLoaded(signal => get<Kept>('/v1/saved/' + encodeURIComponent(id), signal), [id])
  useEffect(() => { if (kept.value) go(address(kept.value.dataset, kept.value), true) }, [kept.value])
  return kept.trouble ? <Warn trouble={kept.trouble} /> : <Busy />
}

function All() {
  const { dataset } = useSession()
  const all = useLoaded(async signal => {
    const [q, d] = await Promise.all([get<{ saved: About[] }>('/v1/saved', signal), get<{ dashboards: About[] }>('/v1/dashboards', signal)])
    return { questions: q.saved, dashboards: d.dashboards }
  }, [dataset])
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [making, setMaking] = useState(false)
  const [picked, setPicked] = useState<string[]>([])
  const remove = async (kind: string, a: About) => {
    try {
      await call('DELETE', `/v1/${kind}/${encodeURIComponent(a.id)}`)
      all.reload()
    } catch (e) {
      setTrouble(asTrouble(e))
    }
  }
  if (all.trouble) return <Warn trouble={all.trouble} />
  if (!all.value) return <Busy />
  const { questions, dashboards } = all.value
  const here = questions.filter(q => q.dataset === dataset)
  return <>
    <h1>Saved</h1>
    {trouble && <Warn trouble={trouble} />}
    {questions.length + dashboards.length === 0 && <Empty title="Nothing is saved yet"><p>Ask a question and press <strong>Save</strong>. You can put several on a dashboard. <Link to="/ask">Ask a question</Link></p></Empty>}
    {dashboards.length > 0 && <section><h2>Dashboards</h2><List name="Saved dashboards" all={dashboards} to={a => '/dashboards/' + encodeURIComponent(a.id)} onRemove={a => remove('dashboards', a)} /></section>}
    {questions.length > 0 && <section><h2>Questions</h2><List name="Saved questions" all={questions} to={a => '/saved/' + encodeURIComponent(a.id)} onRemove={a => remove('saved', a)} />
      {here.length > 0 && <p><button type="button" onClick={() => { setPicked(here.map(q => q.id)); setMaking(true) }}>Make a dashboard</button></p>}</section>}
    <Dialog title="Make a dashboard" open={making} onClose={() => setMaking(false)}>
      <form onSubmit={async e => {
        e.preventDefault()
        const form = new FormData(e.currentTarget)
        try {
          const shared = form.get('shared') === 'on'
          // Others do not see a question that is one's own: a dashboard for them has a copy of it.
          const tile = async (id: string) => (shared && !here.find(q => q.id === id)?.shared ? { question: question(await get<Kept>('/v1/saved/' + encodeURIComponent(id))) } : { saved: id })
          const tiles = (await Promise.all(picked.map(tile))).map((t, i) => ({ ...t, place: { x: (i % 2) * 6, y: Math.floor(i / 2), width: 6, height: 1 } }))
          const d = await post<Dashboard>('/v1/dashboards', { title: form.get('title'), dataset, shared, tiles })
          go('/dashboards/' + encodeURIComponent(d.id))
        } catch (e) {
          setMaking(false)
          setTrouble(asTrouble(e))
        }
      }}>
        <label>Title<input name="title" required maxLength={200} autofocus /></label>
        <fieldset><legend>Questions of {dataset}</legend>
          {here.map(q => <label class="check" key={q.id}><input type="checkbox" checked={picked.includes(q.id)} onChange={e => setPicked(p => (e.currentTarget.checked ? [...p, q.id] : p.filter(x => x !== q.id)))} />{q.title}</label>)}
        </fieldset>
        <label class="check"><input type="checkbox" name="shared" />Show it to everybody who may ask about {dataset}</label>
        <button class="primary" disabled={picked.length === 0}>Make it</button>
      </form>
    </Dialog>
  </>
}

const question = ({ title, sql, settings, chart }: Kept) => ({ title, sql, settings, chart })

function List({ name, all, to, onRemove }: { name: string; all: About[]; to: (a: About) => string; onRemove: (a: About) => void }) {
  return <div class="rows" tabIndex={0} role="region" aria-label={name}><table><thead><tr><th scope="col">title</th><th scope="col">dataset</th><th scope="col">whose</th><th scope="col">changed</th><th scope="col"><span class="unseen">actions</span></th></tr></thead>
    <tbody>{all.map(a => <tr key={a.id}><td><Link to={to(a)}>{a.title}</Link></td><td>{a.dataset}</td><td>{a.mine ? (a.shared ? 'yours, shared' : 'yours') : a.maker}</td><td>{time(a.changed)}</td>
      <td>{a.mine && <button type="button" class="quiet" aria-label={`Remove ${a.title}`} onClick={() => onRemove(a)}>Remove</button>}</td></tr>)}</tbody></table></div>
}
