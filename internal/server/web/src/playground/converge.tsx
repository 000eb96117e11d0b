import { log, linear, XAxis, YAxis } from '../chart/axis'
import { percent } from '../format'
import { useWidth } from '../ui/ui'
import type { Estimate } from './response'

// Converge draws how an estimate and its interval close in on the truth, as far as it is shown.
export function Converge({ title, all, shown, truth }: { title: string; all: Estimate[]; shown: number; truth: number }) {
  const [ref, width] = useWidth<HTMLElement>()
  const height = 320, left = 56, right = width - 20, top = 26, bottom = height - 42
  const x = log(all[0].people, all[all.length - 1].people, left, right)
  const y = linear(0, 1, bottom, top)
  const now = all.slice(0, shown)
  const edge = (of: (e: Estimate) => number, first: string) => now.map((e, i) => `${i ? 'L' : first}${x(e.people)},${y(of(e))}`)
  return <figure class="chart" ref={ref}>
    <figcaption>{title}</figcaption>
    <svg width={width} height={height} role="img" aria-label={`${title}: an estimate with its 95 % interval, and the truth. The table below has the numbers.`}>
      <XAxis scale={x} y={bottom} top={top} label="people asked (logarithmic)" count={Math.max(2, Math.floor(width / 110))} />
      <YAxis scale={y} x={left} right={right} label="share of yes" format={t => percent(t)} />
      <g class="limit"><line x1={left} x2={right} y1={y(truth)} y2={y(truth)} /><text x={left + 6} y={y(truth) + (truth > 0.9 ? 15 : -6)}>the truth</text></g>
      {now.length > 1 && <path class="band" d={edge(e => e.high, 'M').join('') + edge(e => e.low, 'L').reverse().join('') + 'Z'} />}
      <path class="line" d={edge(e => e.value, 'M').join('')} />
      {now.length > 0 && <circle class="dot" cx={x(now[now.length - 1].people)} cy={y(now[now.length - 1].value)} r="4" />}
    </svg>
  </figure>
}
