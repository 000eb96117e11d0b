import { useWidth } from '../ui/ui'
import { linear, XAxis, YAxis } from './axis'

interface Props { title: string; x: string; from: number; to: number; sets: { name: string; counts: number[] }[]; curves: { name: string; points: [number, number][] }[] }

// Histogram draws draws as steps beside the curves that they should follow, in parts of all draws a
// bin.
export function Histogram({ title, x: label, from, to, sets, curves }: Props) {
  const [ref, width] = useWidth<HTMLElement>()
  const height = 300, left = 56, right = width - 14, top = 22, bottom = height - 42
  const parts = sets.map(s => { const n = Math.max(1, s.counts.reduce((a, b) => a + b, 0)); return s.counts.map(c => c / n) })
  const most = Math.max(0.001, ...parts.flat(), ...curves.flatMap(c => c.points.map(p => p[1])))
  const x = linear(from, to, left, right)
  const y = linear(0, most, bottom, top)
  return <figure class="chart" ref={ref}>
    <figcaption>{title}</figcaption>
    <svg width={width} height={height} role="img" aria-label={`${title}: ${[...sets, ...curves].map(s => s.name).join(', ')}`}>
      <XAxis scale={x} y={bottom} top={top} label={label} count={Math.max(2, Math.floor(width / 110))} />
      <YAxis scale={y} x={left} right={right} label="part of all draws" />
      {parts.map((p, k) => {
        const w = (to - from) / p.length
        const d = p.map((v, i) => `${i ? 'L' : 'M'}${x(from + i * w)},${y(v)}H${x(from + (i + 1) * w)}`).join('')
        return <path key={k} class={`area series-${k}`} d={`M${x(from)},${y(0)}L${d.slice(1)}V${y(0)}Z`} />
      })}
      {curves.map((c, k) => <path key={c.name} class={`line series-${k}`} d={c.points.map((p, i) => `${i ? 'L' : 'M'}${x(p[0])},${y(p[1])}`).join('')} />)}
    </svg>
  </figure>
}
