import { linear, XAxis } from '../chart/axis'
import { Legend } from '../chart/lines'
import { percent } from '../format'
import { useWidth } from '../ui/ui'

interface Props { title: string; names: string[]; sets: { name: string; exact: number[]; drawn: number[] }[] }

// Shares draws how often each of a few was drawn, as bars, with a mark where its exact chance is.
export function Shares({ title, names, sets }: Props) {
  const [ref, width] = useWidth<HTMLElement>()
  const lane = 14, row = sets.length * lane + 16, left = 78, right = width - 18, top = 8
  const bottom = top + names.length * row
  const most = Math.max(...sets.flatMap(s => [...s.exact, ...s.drawn]))
  const x = linear(0, most, left, right)
  return <figure class="chart" ref={ref}>
    <figcaption>{title}</figcaption>
    <svg width={width} height={bottom + 26} role="img" aria-label={`${title}: ${names.join(', ')}. The table below has the numbers.`}>
      <XAxis scale={x} y={bottom} top={top} format={t => percent(t)} count={Math.max(2, Math.floor(width / 110))} />
      {names.map((name, i) => <g key={name} transform={`translate(0,${top + i * row + 8})`}>
        <text x={left - 8} y={(sets.length * lane) / 2} dy="0.32em" text-anchor="end">{name}</text>
        {sets.map((s, k) => <g key={s.name} transform={`translate(0,${k * lane})`}>
          <rect class={`area steps series-${k}`} x={left} width={Math.max(0, x(s.drawn[i]) - left)} y="2" height={lane - 4} />
          <line class={`line exact series-${k}`} x1={x(s.exact[i])} x2={x(s.exact[i])} y1="0" y2={lane} />
        </g>)}
      </g>)}
    </svg>
    <Legend names={sets.map(s => s.name)} />
    <p class="hint">The bars show what was drawn; the marks show the exact chance.</p>
  </figure>
}
