import { useEffect, useState } from 'preact/hooks'
import { ask, askFree, explain, get, Trouble, type Answer, type Explanation, type Question } from '../api'
import { Charts, Cut, Rows } from '../ask/result'
import { epsilon, percent } from '../format'
import { Link, usePlace } from '../router'
import { asTrouble, Busy, Copy, Empty, useLoaded, Warn } from '../ui/ui'
import { address, type Dashboard, type SavedQuestion, type Tile } from './types'

// View opens a dashboard. What was paid for on the same data is shown, free; of everything else
// stands there what it would cost, and nothing is paid by looking.
export function View() {
  const place = usePlace()
  const id = decodeURIComponent(place.path.split('/')[2] ?? '')
  const got = useLoaded(signal => (id ? get<Dashboard>('/v1/dashboards/' + encodeURIComponent(id), signal) : Promise.resolve(null)), [id])
  const [states, setStates] = useState<Record<number, State>>({})
  if (!id) return <Empty whole title="There is no dashboard at this address"><p><Link to="/saved">Everything saved</Link></p></Empty>
  if (got.trouble) return <Warn trouble={got.trouble} />
  if (!got.value) return <Busy />
  const d = got.value
  const owed = Object.values(states).filter(s => s.price)
  const total = owed.reduce((sum, s) => sum + (s.price!.pay.epsilon || 0), 0)
  return <>
    <p><Link to="/saved">Saved</Link></p>
    <h1>{d.title}</h1>
    <p class="hint">{d.dataset} · {d.shared ? 'shared with everybody who may ask about it' : 'only yours'} <Copy text={location.href}>Copy the address</Copy></p>
    {owed.length > 0 && <p class="notice" role="status">{owed.length} of {d.tiles.length} would have to be paid for: {epsilon(total)} together. <button type="button" onClick={() => owed.forEach(s => s.pay())}>Pay {epsilon(total)} and refresh</button></p>}
    <div class="tiles">{d.tiles.map((t, i) => <Shown key={i} tile={t} dataset={d.dataset} onState={s => setStates(all => ({ ...all, [i]: s }))} />)}</div>
  </>
}

interface State { price?: Explanation; pay: () => void }

function Shown({ tile, dataset, onState }: { tile: Tile; dataset: string; onState: (s: State) => void }) {
  const wide = (tile.place?.width ?? 6) > 6
  return <section class={wide ? 'tile wide' : 'tile'}>
    {tile.missing || !tile.question ? <p class="hint">This question is gone, or you may not see it.</p> : <Answered question={tile.question} dataset={dataset} onState={onState} />}
  </section>
}

function Answered({ question, dataset, onState }: { question: SavedQuestion; dataset: string; onState: (s: State) => void }) {
  const [answer, setAnswer] = useState<Answer | null>(null)
  const [price, setPrice] = useState<Explanation | null>(null)
  const [paid, setPaid] = useState(0) // for the answer, whenever that was
  const [trouble, setTrouble] = useState<Trouble | null>(null)
  const [busy, setBusy] = useState(true)
  const q: Question = { dataset, sql: question.sql, settings: question.settings }
  const load = async (f: () => Promise<Answer | { price: Explanation }>) => {
    setBusy(true)
    setTrouble(null)
    try {
      const got = await f()
      if ('price' in got) setPrice(got.price)
      else {
        setAnswer(got)
        setPrice(null)
        explain(q).then(e => setPaid(e.cost.epsilon), () => setPaid(got.cost.epsilon))
      }
    } catch (e) {
      setTrouble(asTrouble(e))
    } finally {
      setBusy(false)
    }
  }
  const pay = () => void load(() => ask(q))
  useEffect(() => void load(() => askFree(q)), [question.sql, dataset])
  useEffect(() => onState({ price: price ?? undefined, pay }), [price])
  return <>
    <h2><Link to={address(dataset, question)}>{question.title}</Link></h2>
    {busy && <Busy />}
    {trouble && <Warn trouble={trouble} />}
    {answer && (question.chart?.kind === 'table' ? <Rows answer={answer} /> : <Charts answer={answer} told={{ question: q, title: question.title, price: paid }} />)}
    {answer && <Cut answer={answer} />}
    {answer && <p class="hint">{percent(answer.confidence, 3)} noise intervals · record {answer.receipt.sequence} · version {answer.data_version.name ?? answer.data_version.number} of the data</p>}
    {price && !busy && <p>Not paid for on the current data. <button type="button" disabled={!price.affordable} onClick={pay}>Ask for {epsilon(price.pay.epsilon)}</button>{!price.affordable && <span class="hint"> more than you have left</span>}</p>}
  </>
}
