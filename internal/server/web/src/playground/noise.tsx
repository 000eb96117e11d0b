import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { Histogram } from '../chart/histogram'
import { Lines } from '../chart/lines'
import { number, percent, significant } from '../format'
import { go, usePlace, withQuery } from '../router'
import { Tabs } from '../ui/ui'
import { Knob, even, round, useKnobs } from './knobs'
import { apart, apartBy, chances, deviationFor, gaussian, laplace, pick, tail, type Law } from './laws'
import { Figure, Numbers, oneIn, share, Stage, times } from './parts'
import { random } from './random'
import { Shares } from './shares'

const kinds: [Kind, string][] = [['laplace', 'Laplace'], ['gaussian', 'Gaussian'], ['exponential', 'Exponential']]
type Kind = 'laplace' | 'gaussian' | 'exponential'

const ranges = {
  epsilon: round(0.5, 0.05, 5),
  delta: { usual: 1e-5, values: [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2] },
  moves: even(1, 1, 10, 1),
  lead: even(3, 0, 20, 1),
}

export function Noise() {
  const [now, change, reset] = useKnobs(ranges)
  const asked = usePlace().query.get('kind')
  const kind = kinds.find(k => k[0] === asked)?.[0] ?? 'laplace'
  const epsilon = <Knob label="ε" range={ranges.epsilon} value={now.epsilon} text={significant(now.epsilon)} onChange={x => change('epsilon', x)} hint="Smaller is more private and noisier." />
  const knobs = <>
    {epsilon}
    {kind === 'gaussian' && <Knob label="δ" range={ranges.delta} value={now.delta} text={oneIn(now.delta)} onChange={x => change('delta', x)} hint="How often the promise of ε can fail." />}
    {kind === 'exponential'
      ? <Knob label="Lead of the first" range={ranges.lead} value={now.lead} text={number(now.lead)} onChange={x => change('lead', x)} />
      : <Knob label="One person changes the answer by" range={ranges.moves} value={now.moves} text={number(now.moves)} onChange={x => change('moves', x)} />}
  </>
  return <>
    <h1>Noise</h1>
    <p class="lead">Two databases are the same, except that <strong>Ana</strong> is in one and not in the other. The server never gives the exact answer: it adds noise, so that the answer could almost as well have come from either. {' '}
      {kind === 'exponential' ? 'When the answer is a choice, not a number, the choice itself is random, and better choices are likelier.' : 'The steps are answers that your browser draws now; the curves are the exact distribution.'}</p>
    <Tabs name="Noise" tabs={kinds} now={kind} onChoose={k => go(withQuery({ kind: k === 'laplace' ? null : k }), true)} />
    {kind === 'exponential'
      ? <Choice key="e" onReset={reset} knobs={knobs} epsilon={now.epsilon} lead={now.lead} />
      : <Amount key="n" onReset={reset} knobs={knobs} kind={kind} {...now} />}
    <p class="hint">The playground has no data, so its noise is drawn in floating point. The server draws its noise exactly, on whole numbers: floating point has gaps that would give answers away.</p>
  </>
}

// useDraws draws pairs of answers, with Ana and without, again from the first when the law changes.
function useDraws<T>(law: string, start: () => T, draw: (into: T) => void) {
  const [, again] = useReducer((n: number, _: void) => n + 1, 0)
  const [running, setRunning] = useState(false)
  const all = useRef<{ law: string; count: number; into: T } | undefined>(undefined)
  const add = (n: number) => {
    for (let i = 0; i < n; i++) draw(all.current!.into)
    all.current!.count += n
  }
  const begin = (n: number) => {
    all.current = { law, count: 0, into: start() }
    add(n)
  }
  if (all.current?.law !== law) begin(1000)
  useEffect(() => {
    if (!running) return
    let frame = requestAnimationFrame(function step() {
      add(100)
      again()
      if (all.current!.count < 1e6) frame = requestAnimationFrame(step)
      else setRunning(false)
    })
    return () => cancelAnimationFrame(frame)
  }, [running, law])
  const buttons = <div class="run">
    <button type="button" onClick={() => { add(1); again() }}>Draw one more</button>
    <button type="button" onClick={() => { add(1000); again() }}>Draw {number(1000)}</button>
    <button type="button" onClick={() => setRunning(!running)}>{running ? 'Pause' : 'Keep drawing'}</button>
    <button type="button" class="quiet" onClick={() => { begin(0); setRunning(false); again() }}>Start over</button>
  </div>
  return { count: all.current!.count, drawn: all.current!.into, buttons }
}

const bins = 60
const exact = 120

interface AmountProps { kind: 'laplace' | 'gaussian'; epsilon: number; delta: number; moves: number; knobs: preact.ComponentChildren; onReset: () => void }

function Amount({ kind, epsilon, delta, moves, knobs, onReset }: AmountProps) {
  const scale = kind === 'laplace' ? moves / epsilon : deviationFor(epsilon, delta, moves)
  const law: Law = kind === 'laplace' ? laplace(scale) : gaussian(scale)
  const half = round(10, 3, 1e5).values.find(v => v >= 3.2 * scale + moves)!
  const from = exact - half, to = exact + half, width = (2 * half) / bins
  const centres = [exact, exact - moves]
  const { count, drawn, buttons } = useDraws(`${kind} ${scale} ${moves}`,
    () => ({ counts: centres.map(() => Array<number>(bins).fill(0)), last: [NaN, NaN], right: 0 }),
    into => centres.forEach((c, k) => {
      const x = c + law.draw(random)
      const bin = Math.floor((x - from) / width)
      if (bin >= 0 && bin < bins) into.counts[k][bin]++
      into.last[k] = x
      if (x > exact - moves / 2 === (k === 0)) into.right++
    }))
  const names = [`with Ana: ${number(exact)}`, `without Ana: ${number(exact - moves)}`]
  const middles = Array.from({ length: bins }, (_, i) => from + (i + 0.5) * width)
  const inBin = (c: number, x: number) => law.below(x + width / 2 - c) - law.below(x - width / 2 - c)
  const fine = Array.from({ length: 4 * bins + 1 }, (_, i) => from + (i * width) / 4)
  const ratio = (x: number) => law.density(x - exact) / law.density(x - exact + moves)
  const limit = Math.exp(epsilon)
  const level = (y: number): [number, number][] => [[from, y], [to, y]]
  return <>
    <Stage onReset={onReset} knobs={<>{knobs}<Figure name={kind === 'laplace' ? 'Scale of the noise' : 'Deviation of the noise'} value={significant(scale)}>{percent(0.95)} of answers are within ±{significant(kind === 'laplace' ? scale * Math.log(20) : 1.96 * scale)} of the exact one</Figure></>} after={<>
      <p>{number(count)} answers of each were drawn{count > 0 && <>; the last ones are {significant(drawn.last[0], 5)} with Ana, and {significant(drawn.last[1], 5)} without</>}.</p>
      <div class="figures">
        <Figure name="Best guess whether Ana is in it" value={share(apartBy(law, moves))}>is right; a coin toss, {percent(0.5)}</Figure>
        <Figure name="Right for the answers drawn" value={count ? share(drawn.right / (2 * count)) : '–'}>guessing “with” above {number(exact - moves / 2)}</Figure>
      </div>
    </>}>
      <Histogram title="How often each answer is given" x="answer" from={from} to={to}
        sets={centres.map((_, k) => ({ name: `${number(count)} draws ${names[k]}`, counts: drawn.counts[k], total: count }))}
        curves={centres.map((c, k) => ({ name: names[k], points: fine.map(x => [x, inBin(c, x)] as [number, number]) }))} />
      {buttons}
    </Stage>
    <section class="card">
      <Lines title="How many times likelier an answer is with Ana than without" x="answer" y="times as likely" logY
        curves={[{ name: 'ratio of the two curves', points: fine.map(x => [x, ratio(x)] as [number, number]) }, { name: `e to the ε, ${times(limit)}`, points: level(limit), dashed: true }, { name: `1 divided by that, ${times(1 / limit)}`, points: level(1 / limit), dashed: true }]} height={240} />
      <p>{kind === 'laplace'
        ? <>This is what ε means: wherever the answer falls, it is at most <strong>{times(limit)} times</strong> as likely with Ana as without her, and the other way round. Whoever sees it learns no more than that.</>
        : <>Between the dashed lines the answer is at most <strong>{times(limit)} times</strong> as likely with Ana as without her, or the other way round. Outside them it is more: such an answer comes {oneIn(tail(epsilon * scale / moves - moves / scale / 2))} times with Ana.
          The excess probability of such answers adds up to δ, {oneIn(delta)}.</>}</p>
      <Numbers title="The numbers of the charts" head={['answer about', 'with Ana: exact', 'drawn', 'without: exact', 'drawn', 'ratio']} rows={middles.filter((_, i) => i % 4 === 2).map(x => {
        const i = Math.floor((x - from) / width)
        return [significant(x, 4), ...centres.flatMap((c, k) => [percent(inBin(c, x), 2), percent(count ? drawn.counts[k][i] / count : 0, 2)]), times(ratio(x))]
      })} />
    </section>
  </>
}

const illnesses = ['flu', 'asthma', 'fracture', 'diabetes', 'migraine']

function Choice({ epsilon, lead, knobs, onReset }: { epsilon: number; lead: number; knobs: preact.ComponentChildren; onReset: () => void }) {
  const scores = [20 + lead, 20, 18, 15, 10]
  const both = [scores, scores.map((s, i) => (i === 0 ? s - 1 : s))].map(s => ({ scores: s, exact: chances(epsilon, s) }))
  const { count, drawn, buttons } = useDraws(`${epsilon} ${lead}`, () => ({ counts: both.map(() => illnesses.map(() => 0)), right: 0, last: [0, 0] }), into => both.forEach((b, k) => {
    const i = pick(b.exact, random)
    into.counts[k][i]++
    into.last[k] = i
    if (both[0].exact[i] > both[1].exact[i] === (k === 0)) into.right++
  }))
  const limit = Math.exp(epsilon)
  return <>
    <Stage onReset={onReset} knobs={knobs} after={<>
      <p>{number(count)} answers of each were drawn{count > 0 && <>; the last ones are {illnesses[drawn.last[0]]} with Ana, and {illnesses[drawn.last[1]]} without</>}.</p>
      <div class="figures">
        <Figure name="Best guess whether Ana is in it" value={share(apart(both[0].exact, both[1].exact))}>is right; a coin toss, {percent(0.5)}</Figure>
        <Figure name="Right for the answers drawn" value={count ? share(drawn.right / (2 * count)) : '–'}>guessing “with” when flu is the answer</Figure>
      </div>
    </>}>
      <Shares title="Which illness is the most common? How often each is the answer" names={illnesses} sets={both.map((b, k) => ({ name: k ? 'without Ana' : 'with Ana, who has the flu', exact: b.exact, drawn: drawn.counts[k].map(c => (count ? c / count : 0)) }))} />
      {buttons}
    </Stage>
    <section class="card">
      <p>Nobody sees the counts, only the winner. No answer is more than <strong>{times(limit)} times</strong> as likely with Ana as without her, or the other way round: that is what ε {significant(epsilon)} means. A longer lead wins more surely.</p>
      <Numbers open title="The numbers of the chart" head={['illness', 'count with / without Ana', 'chance with', 'drawn', 'chance without', 'drawn', 'ratio']} rows={illnesses.map((name, i) => [name, both.map(b => number(b.scores[i])).join(' / '),
        ...both.flatMap((b, k) => [share(b.exact[i]), count ? share(drawn.counts[k][i] / count) : '–']), times(both[0].exact[i] / both[1].exact[i])])} />
    </section>
  </>
}
