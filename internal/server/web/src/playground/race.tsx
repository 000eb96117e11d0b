import { exact, linear, XAxis, YAxis } from '../chart/axis'
import { percent } from '../format'
import { useWidth } from '../ui/ui'
import type { Step } from './thresholdout'

interface Props { title: string; plain: Step[]; threshold: Step[]; shown: number; most: number }

// Race draws what two holdouts say about models that mean nothing, and what new people say.
export function Race({ title, plain, threshold, shown, most }: Props) {
  const [ref, width] = useWidth<HTMLElement>()
  const height = 340, left = 56, right = width - 20, top = 26, bottom = height - 42
  const high = Math.max(0.7, ...plain.map(s => s.reported), ...threshold.map(s => s.training)) + 0.01
  const low = Math.min(0.44, ...plain.map(s => s.fresh), ...threshold.map(s => Math.max(0.3, s.reported)))
  const x = exact(0, most, left, right)
  const y = linear(low, high, bottom, top)
  const line = (steps: Step[], of: (s: Step) => number) => steps.slice(0, shown).map((s, i) => `${i ? 'L' : 'M'}${x(s.used)},${y(of(s))}`).join('')
  const names: [string, string][] = [['dot-1', 'the plain holdout says'], ['dot-0', 'Thresholdout says'], ['dot-hollow', 'Thresholdout confirms training'], ['dot-7', 'new people say']]
  return <figure class="chart" ref={ref}>
    <figcaption>{title}</figcaption>
    <svg width={width} height={height} role="img" aria-label={`${title}: what the plain holdout says, what Thresholdout says, and what new people say. The table below has the numbers.`}>
      <XAxis scale={x} y={bottom} top={top} label="attributes used" count={Math.max(2, Math.floor(width / 110))} />
      <YAxis scale={y} x={left} right={right} label="of all people" format={t => percent(t)} />
      <g class="limit truth"><line x1={left} x2={right} y1={y(0.5)} y2={y(0.5)} /></g>
      <path class="line thin series-7" d={line(plain, s => s.fresh)} />
      <path class="line thin dashed series-7" d={line(threshold, s => s.fresh)} />
      <path class="line series-1" d={line(plain, s => s.reported)} />
      {threshold.slice(0, shown).map(s => <circle key={s.used} class={s.reported === s.training ? 'dot hollow' : 'dot'} cx={x(s.used)} cy={y(Math.max(low, s.reported))} r="3.2" />)}
    </svg>
    <ul class="chart-legend">{names.map(([c, n]) => <li key={c}><span class={`swatch ${c}`} aria-hidden="true" />{n}</li>)}</ul>
  </figure>
}
