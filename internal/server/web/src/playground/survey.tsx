import { useMemo, useState } from 'preact/hooks'
import { number, percent, significant } from '../format'
import { Converge } from './converge'
import { Knob, even, round, useKnobs } from './knobs'
import { Figure, Numbers, Play, share, Stage, times, usePlay } from './parts'
import { random } from './random'
import { blur, crowd, randomised, truth } from './response'

const ranges = {
  epsilon: round(1, 0.1, 5),
  crowd: round(10000, 100, 100000, true),
  share: even(0.3, 0.05, 0.95, 0.05),
}

// stops are sizes of a crowd, from few to all of it.
function stops(last: number) {
  const n = 90
  return [...new Set(Array.from({ length: n }, (_, i) => Math.round(10 * (last / 10) ** (i / (n - 1)))))]
}

export function Survey() {
  const [{ epsilon, crowd: people, share: yes }, change, reset] = useKnobs(ranges)
  const [answer, setAnswer] = useState<boolean | null>(null) // stays here, and is in no address
  const [sent, setSent] = useState<boolean | null>(null)
  const [round, setRound] = useState(0)
  const all = useMemo(() => crowd(yes, epsilon, stops(people), random, sent === null ? 0 : 1, sent ? 1 : 0), [yes, epsilon, people, round])
  const play = usePlay(all.length, 6)
  const now = all[Math.max(0, play.shown - 1)]
  const honest = truth(epsilon)
  const reply = (a: boolean) => {
    setAnswer(a)
    setSent(randomised(a, epsilon, random))
    setRound(n => n + 1)
  }
  const word = (a: boolean) => (a ? 'Yes' : 'No')
  return <>
    <h1>A survey</h1>
    <p class="lead">Who would admit it? With <strong>randomized response</strong> your own device lies for you now and then, before anything is sent, so you can deny whatever arrives. Over a crowd the lies cancel out, because everybody knows how often devices lie.</p>
    <section class="card question">
      <h2 id="question">Have you ever read somebody’s messages without their knowledge?</h2>
      <div class="run" role="group" aria-labelledby="question">
        <button type="button" class="primary" onClick={() => reply(true)}>Yes</button>
        <button type="button" class="primary" onClick={() => reply(false)}>No</button>
        <span class="hint">Nothing is sent or kept: this page only shows what would be sent.</span>
      </div>
      <div role="status">{answer !== null && sent !== null && <>
        <ol class="relay">
          <li><span class="hint">You say</span><strong>{word(answer)}</strong></li>
          <li><span class="hint">Your browser tosses a coin</span><strong>{share(honest)} truth</strong></li>
          <li class="out"><span class="hint">What would be sent</span><strong>{word(sent)}</strong></li>
        </ol>
        <p>{sent === answer ? 'It happens to be what you said' : 'It is not what you said'}, and nobody who reads it can tell: somebody who thought both equally likely now believes it at most {share(honest)}. It is the first answer in the crowd below.
          In a real survey the coin is tossed only once per person: several tosses would add up.</p>
      </>}</div>
    </section>
    <Stage onReset={reset} knobs={<>
      <Knob label="ε of an answer" range={ranges.epsilon} value={epsilon} text={significant(epsilon)} onChange={x => { change('epsilon', x); setSent(null); setAnswer(null) }} hint={`A device tells the truth with probability ${share(honest)}: the truth is ${times(Math.exp(epsilon))} times as likely as the lie.`} />
      <Knob label="People asked" range={ranges.crowd} value={people} text={number(people)} onChange={x => change('crowd', x)} />
      <Knob label="Who would say yes" range={ranges.share} value={yes} text={percent(yes)} onChange={x => change('share', x)} hint="The survey does not know this. You do." />
    </>} after={<>
      <div class="figures">
        <Figure name={`After ${number(now.people)} answers`} value={percent(now.value, 1)}>from {percent(now.low, 1)} to {percent(now.high, 1)} ({percent(0.95)} interval)</Figure>
        <Figure name="The truth" value={percent(yes)}>among everybody whom the crowd is drawn from</Figure>
        <Figure name="The price of privacy" value={`${significant(blur(yes, epsilon), 2)} ×`}>as wide an interval as with true answers, or {significant(blur(yes, epsilon) ** 2, 2)} times as many people for the same width</Figure>
      </div>
      <Numbers title="The numbers of the chart" head={['people asked', 'estimate', 'from', 'to']} rows={all.filter((_, i) => i % 9 === 8 || i === all.length - 1).map(e => [number(e.people), percent(e.value, 1), percent(e.low, 1), percent(e.high, 1)])} />
    </>}>
      <Converge title="What the survey says, as answers come in" all={all} shown={play.shown} truth={yes} />
      <div class="run">
        <Play play={play} all={all.length} />
        <button type="button" onClick={() => { setRound(n => n + 1); play.again() }}>Ask another crowd</button>
      </div>
    </Stage>
  </>
}
