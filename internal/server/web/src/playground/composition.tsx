import { useMemo } from 'preact/hooks'
import { Lines } from '../chart/lines'
import { number, percent, significant } from '../format'
import { go, usePlace, withQuery } from '../router'
import { Knob, round, useKnobs } from './knobs'
import { Numbers, oneIn, share, Stage } from './parts'
import { advanced, certain, concentrated, optimal, renyi, simple, type Theorem } from './theorems'

const theorems: { name: string; of: Theorem; by: string }[] = [
  { name: 'simple', of: simple, by: 'Dwork, McSherry, Nissim, Smith 2006' },
  { name: 'advanced', of: advanced, by: 'Dwork, Rothblum, Vadhan 2010' },
  { name: 'zero-concentrated', of: concentrated, by: 'Bun, Steinke 2016' },
  { name: 'Rényi', of: renyi, by: 'Mironov 2017' },
  { name: 'optimal', of: optimal, by: 'Kairouz, Oh, Viswanath 2015; Murtagh, Vadhan 2016' },
]

const ranges = {
  epsilon: round(0.01, 0.001, 5),
  questions: round(1000, 2, 10000, true),
  delta: { usual: 1e-6, values: [1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2] },
}

// counts are numbers of questions up to the last, about as many as a chart shows.
function counts(last: number, log: boolean) {
  const n = Math.min(48, last - 1)
  const all = Array.from({ length: n + 1 }, (_, i) => Math.round(log ? last ** (i / n) : 1 + ((last - 1) * i) / n))
  return [...new Set(all)]
}

const few = (last: number) => [...new Set([...round(1, 1, last, true).values.filter(x => /^[125]0*$/.test(String(x))), last])]

export function Composition() {
  const [{ epsilon, questions, delta }, change, reset] = useKnobs(ranges)
  const log = usePlace().query.get('log') === '1'
  const highest = simple(epsilon, questions, delta) * 1.1
  const curves = useMemo(() => theorems.map(t => ({
    name: t.name,
    points: counts(questions, log).map(k => [k, t.of(epsilon, k, delta)] as [number, number]).filter(p => p[1] <= highest),
  })), [epsilon, questions, delta, log])
  const totals = theorems.map(t => t.of(epsilon, questions, delta))
  const guesses = totals.map((e, i) => certain(e, i === 0 ? 0 : delta))
  const least = Math.min(...totals), guess = guesses[totals.indexOf(least)]
  const table = useMemo(() => few(questions).map(k => [number(k), ...theorems.map(t => significant(t.of(epsilon, k, delta), 4))]), [epsilon, questions, delta])
  return <>
    <h1>Many questions</h1>
    <p class="lead">Every answer gives away a little about each person. <strong>Epsilon (ε)</strong> says how much: small is good, and answers add up. The theorems differ in how tightly they add:
      if you accept a tiny chance δ that the promise fails, you can ask many more questions for the same ε.</p>
    <Stage onReset={reset} knobs={<>
      <Knob label="ε of a question" range={ranges.epsilon} value={epsilon} text={significant(epsilon)} onChange={x => change('epsilon', x)} />
      <Knob label="Questions" range={ranges.questions} value={questions} text={number(questions)} onChange={x => change('questions', x)} />
      <Knob label="δ of all answers together" range={ranges.delta} value={delta} text={oneIn(delta)} onChange={x => change('delta', x)} hint="The simple sum needs no δ." />
      <label class="check"><input type="checkbox" checked={log} onChange={e => go(withQuery({ log: e.currentTarget.checked ? '1' : null }), true)} /> logarithmic scales</label>
    </>} after={<p>{number(questions)} questions of ε {significant(epsilon)} together are worth at most ε <strong>{significant(least, 4)}</strong>{least < 0.99 * totals[0] && `, and not ${significant(totals[0], 4)}`}{guess > 0.999
      ? '. That is so large that it promises next to nothing: ask less, or at a lower price.'
      : `: so somebody who would guess a fact about you right half the time now guesses it right at most ${share(guess)} of the time.`}</p>}>
      <Lines title="What all answers are worth together" x="number of questions" y="ε of all answers together" curves={curves} logX={log} logY={log} />
    </Stage>
    <section class="card">
      <h2>After {number(questions)} questions</h2>
      <Numbers open title="Epsilon by theorem" head={['theorem', 'ε', `a guess of ${percent(0.5)} becomes, at most`]} rows={theorems.map((t, i) => [
        <><span class={`swatch series-${i}`} aria-hidden="true" />{t.name} <span class="hint">{t.by}</span></>,
        totals[i] === least ? <strong>{significant(totals[i], 4)}</strong> : significant(totals[i], 4), share(guesses[i])])} />
      <p class="hint">The optimal one is as small as possible if only the ε of each answer is known. All are proven. If prices are chosen along the way, as in Discreet, the server must stop by a sum that grows answer by answer: the sum of ε, or the zero-concentrated one.
        Curves end where they are worse than the simple sum.</p>
      <Numbers title="The numbers of the chart" head={['questions', ...theorems.map(t => t.name)]} rows={table} />
    </section>
  </>
}
