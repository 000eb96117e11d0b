import { useMemo, useState } from 'preact/hooks'
import { number, percent, significant } from '../format'
import { even, Knob, useKnobs } from './knobs'
import { Figure, Numbers, Play, Stage, usePlay } from './parts'
import { Race } from './race'
import { fill, random } from './random'
import { overfit, plain, thresholdout, world } from './thresholdout'

const ranges = {
  people: { usual: 2000, values: [200, 500, 1000, 2000, 5000, 10000] },
  attributes: { usual: 2000, values: [100, 200, 500, 1000, 2000, 5000] },
  most: even(101, 21, 201, 20),
  threshold: even(0.04, 0, 0.1, 0.01),
  noise: { usual: 0.01, values: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05] },
}

export function Holdout() {
  const [{ people, attributes, most, threshold, noise }, change, reset] = useKnobs(ranges)
  const [round, setRound] = useState(0)
  const dealt = useMemo(() => world(people, attributes, fill), [people, attributes, round])
  const both = useMemo(() => {
    const t = thresholdout(threshold, noise, random)
    return { plain: overfit(dealt, plain, most), threshold: overfit(dealt, t.judge, most), said: t.said }
  }, [dealt, most, threshold, noise])
  const all = Math.min(both.plain.length, both.threshold.length)
  const play = usePlay(all, 6)
  const at = Math.max(0, play.shown - 1)
  const a = both.plain[at], b = both.threshold[at]
  const epsilon = (2 * (both.said.overruled + 1)) / (noise * people)
  return <>
    <h1>A test set that lasts</h1>
    <p class="lead">An analyst looks for signs of an illness in attributes that have <strong>nothing</strong> to do with it: a guess is right half the time, whatever they do. They try every attribute on a test set (a holdout), keep those that score well, and ask again. A plain
      holdout starts to flatter them. <strong>Thresholdout</strong> gives the training score as long as the holdout agrees with it, and otherwise the holdout’s score with noise: so the analyst learns less about the test set, and it flatters less.</p>
    <Stage onReset={reset} knobs={<>
      <Knob label="People in each set" range={ranges.people} value={people} text={number(people)} onChange={x => change('people', x)} />
      <Knob label="Attributes to try" range={ranges.attributes} value={attributes} text={number(attributes)} onChange={x => change('attributes', x)} />
      <Knob label="Attributes used, at most" range={ranges.most} value={most} text={number(most)} onChange={x => change('most', x)} />
      <Knob label="Threshold" range={ranges.threshold} value={threshold} text={percent(threshold)} onChange={x => change('threshold', x)} hint="How far training and holdout can differ." />
      <Knob label="Noise" range={ranges.noise} value={noise} text={percent(noise, 1)} onChange={x => change('noise', x)} hint="The scale of the noise on an answer." />
    </>} after={<>
      {a && b && <div class="figures">
        <Figure series={1} name="The plain holdout says" value={percent(a.reported, 1)}>with {number(a.used)} attributes; new people: {percent(a.fresh, 1)}</Figure>
        <Figure series={0} name="Thresholdout says" value={percent(b.reported, 1)}>new people: {percent(b.fresh, 1)}; training: {percent(b.training, 1)}</Figure>
      </div>}
      <p class="unseen" role="status">{!play.playing && a && b ? `With ${a.used} attributes the plain holdout says ${percent(a.reported, 1)}, and new people ${percent(a.fresh, 1)}. Thresholdout says ${percent(b.reported, 1)}, and new people ${percent(b.fresh, 1)}.` : ''}</p>
      <p>Thresholdout was asked {number(both.said.asked)} questions, and answered {number(both.said.overruled)} from the holdout. Hollow dots are training scores that it confirmed: now and then the noise of the comparison lets one pass by mistake.
        As a promise of privacy, all that would be an ε of {significant(epsilon)}{epsilon > 5 && ', where no theorem promises anything: you can see that it works, but it is not proven'}. Too large a threshold, or too much noise, lets training scores pass; too little noise gives the holdout away.</p>
      <Numbers title="The numbers of the chart" head={['attributes used', 'plain holdout', 'new people', 'Thresholdout', 'its training', 'new people']} rows={both.plain.slice(0, all).filter((_, i) => i % 5 === 0).map((p, i) => {
        const t = both.threshold[i * 5]
        return [number(p.used), percent(p.reported, 1), percent(p.fresh, 1), percent(t.reported, 1), percent(t.training, 1), percent(t.fresh, 1)]
      })} />
    </>}>
      <Race title="How often the analyst's guess is right" plain={both.plain} threshold={both.threshold} shown={play.shown} most={both.plain[both.plain.length - 1]?.used ?? 1} />
      <div class="run">
        <Play play={play} all={all} />
        <button type="button" onClick={() => { setRound(n => n + 1); play.again() }}>Deal new people</button>
        <label class="scrub"><span class="unseen">Attributes used so far</span><input type="range" min="1" max={all} value={Math.max(1, play.shown)} aria-valuetext={`${a?.used ?? 0} attributes`} onInput={e => play.show(Number(e.currentTarget.value))} /></label>
      </div>
    </Stage>
  </>
}
