import { useWidth } from '../ui/ui'
import { linear, TimeAxis, times, YAxis } from './axis'
import { Legend } from './lines'

export interface Layer { name: string; values: number[] }

// Stack draws how much of something several have spent together over time, one on top of the other,
// with a limit and where the pace leads.
export function Stack({ title, at, layers, limit, forecast, of }: { title: string; of: string; at: Date[]; layers: Layer[]; limit?: number; forecast?: { at: Date; total: number } }) {
  const [ref, width] = useWidth<HTMLElement>()
  const height = 300, left = 56, right = width - 26, top = 22, bottom = height - 28
  const totals = at.map((_, i) => layers.reduce((sum, l) => sum + l.values[i], 0))
  const last = totals[totals.length - 1] ?? 0
  const end = forecast && forecast.at > at[at.length - 1] ? forecast.at : at[at.length - 1]
  const x = times(at[0], end > at[0] ? end : new Date(+at[0] + 86_400_000), left, right)
  const y = linear(0, Math.max(limit ?? 0, last, forecast?.total ?? 0, 1e-9), bottom, top)
  const below = at.map(() => 0)
  return <figure class="chart" ref={ref}>
    <figcaption>{title}</figcaption>
    <svg width={width} height={height} role="img" aria-label={`${title}, by ${layers.map(l => l.name).join(', ')}. The table below has the numbers.`}>
      <YAxis scale={y} x={left} right={right} label={`${of} spent`} />
      <TimeAxis scale={x} y={bottom} top={top} count={Math.max(2, Math.floor(width / 120))} />
      {layers.map((l, k) => {
        const from = [...below]
        l.values.forEach((v, i) => { below[i] += v })
        const up = at.map((t, i) => `${i ? 'L' : 'M'}${x(t)},${y(below[i])}`).join('')
        const down = at.map((t, i) => `L${x(t)},${y(from[i])}`).reverse().join('')
        return <path key={l.name} class={`area series-${k % 8}`} d={up + down + 'Z'} />
      })}
      {limit !== undefined && <g class="limit"><line x1={left} x2={right} y1={y(limit)} y2={y(limit)} /><text x={right} y={y(limit) - 5} text-anchor="end">limit</text></g>}
      {forecast && at.length > 0 && <path class="line dashed forecast" d={`M${x(at[at.length - 1])},${y(last)}L${x(forecast.at)},${y(forecast.total)}`} />}
    </svg>
    <Legend names={layers.map(l => l.name)} />
  </figure>
}
