import { useState } from 'preact/hooks'
import { measured } from '../format'
import { useWidth } from '../ui/ui'
import { linear, within, XAxis, type Range } from './axis'

export interface Interval { label: string; value: number; error: number | null }

const first = 60

// Intervals draws groups as dots, each with the interval in which the noise leaves the exact value.
// There are no bars: a bar says that its end is known.
export function Intervals({ title, points, confidence, range }: { title: string; points: Interval[]; confidence: number; range?: Range | null }) {
  const [ref, width] = useWidth<HTMLElement>()
  const [all, setAll] = useState(false)
  const shown = all ? points : points.slice(0, first)
  const row = shown.length > 200 ? 9 : shown.length > 30 ? 16 : 26
  const letters = Math.max(3, ...shown.map(p => p.label.length))
  const fit = Math.max(3, Math.min(letters, Math.floor((width * 0.4 - 14) / 7.2)))
  const left = 14 + fit * 7.2
  const top = 8
  const height = top + shown.length * row
  const from = (p: Interval) => within(p.value - (p.error ?? 0), range), to = (p: Interval) => within(p.value + (p.error ?? 0), range)
  const low = Math.min(0, ...shown.map(from))
  const high = Math.max(0, ...shown.map(to))
  const x = linear(low, high, left, width - 18)
  return <figure class="chart" ref={ref}>
    <figcaption>{title}</figcaption>
    <svg width={width} height={height + 26} role="img" aria-label={`${title}: ${points.length} groups as dots with ${Math.round(confidence * 100)} % noise intervals. The table has the numbers.`}>
      <XAxis scale={x} y={height} top={top} count={Math.max(2, Math.floor((width - left) / 90))} />
      {shown.map((p, i) => {
        const y = top + i * row + row / 2
        const lost = p.error !== null && Math.abs(p.value) <= p.error
        return <g key={i} class={lost ? 'point lost' : 'point'}>
          <title>{`${p.label}: ${measured(p.value, p.error)}${p.error === null ? '' : ` ± ${measured(p.error, p.error)}`}${lost ? ', not distinguishable from 0' : ''}`}</title>
          {row >= 12 && <text x={left - 8} y={y} dy="0.32em" text-anchor="end">{p.label.length > fit ? p.label.slice(0, fit - 1) + '…' : p.label}</text>}
          {p.error !== null && <>
            <line class="whisker" x1={x(from(p))} x2={x(to(p))} y1={y} y2={y} />
            {row >= 12 && <path class="whisker" d={`M${x(from(p))},${y - 4}v8M${x(to(p))},${y - 4}v8`} />}
          </>}
          <circle cx={x(p.value)} cy={y} r={row >= 12 ? 4 : 2.5} />
        </g>
      })}
    </svg>
    {points.length > first && <button type="button" class="quiet" onClick={() => setAll(!all)}>{all ? `Show the first ${first}` : `Show all ${points.length}`}</button>}
  </figure>
}
