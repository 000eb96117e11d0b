import { measured } from '../format'
import { useWidth } from '../ui/ui'
import { linear, TimeAxis, times, within, YAxis, type Range } from './axis'

export interface Moment { at: Date; value: number; error: number | null }

// Band draws values over time with the band in which the noise leaves the exact ones.
export function Band({ title, points, confidence, range }: { title: string; points: Moment[]; confidence: number; range?: Range | null }) {
  const [ref, width] = useWidth<HTMLElement>()
  const all = [...points].sort((a, b) => +a.at - +b.at)
  const height = 280, left = 64, right = width - 26, top = 16, bottom = height - 28
  const from = (p: Moment) => within(p.value - (p.error ?? 0), range), to = (p: Moment) => within(p.value + (p.error ?? 0), range)
  const low = Math.min(0, ...all.map(from))
  const high = Math.max(0, ...all.map(to))
  const x = times(all[0].at, all[all.length - 1].at, left, right)
  const y = linear(low, high, bottom, top)
  const path = all.map((p, i) => `${i ? 'L' : 'M'}${x(p.at)},${y(p.value)}`).join('')
  const edge = all.map((p, i) => `${i ? 'L' : 'M'}${x(p.at)},${y(to(p))}`).join('') +
    [...all].reverse().map(p => `L${x(p.at)},${y(from(p))}`).join('') + 'Z'
  return <figure class="chart" ref={ref}>
    <figcaption>{title}</figcaption>
    <svg width={width} height={height} role="img" aria-label={`${title}: ${all.length} times with a ${Math.round(confidence * 100)} % noise band. The table has the numbers.`}>
      <YAxis scale={y} x={left} right={right} />
      <TimeAxis scale={x} y={bottom} top={top} count={Math.max(2, Math.floor(width / 110))} />
      <path class="band" d={edge} />
      <path class="line" d={path} />
      {all.length <= 120 && all.map(p => <circle key={+p.at} class="dot" cx={x(p.at)} cy={y(p.value)} r="2.6">
        <title>{`${p.at.toISOString().slice(0, 10)}: ${measured(p.value, p.error)}${p.error === null ? '' : ` ± ${measured(p.error, p.error)}`}`}</title>
      </circle>)}
    </svg>
  </figure>
}
