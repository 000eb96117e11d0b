import { useWidth } from '../ui/ui'
import { exact, linear, XAxis, YAxis } from './axis'
import { Legend } from './lines'

interface Props {
  title: string
  x: string
  from: number
  to: number
  // How many draws fell into each bin, of how many in all: some fall beside the picture.
  sets: { name: string; counts: number[]; total: number }[]
  curves: { name: string; points: [number, number][] }[]
}

// Histogram draws draws as steps beside the curves that they should follow, in parts of all draws a
// bin.
export function Histogram({ title, x: label, from, to, sets, curves }: Props) {
  const [ref, width] = useWidth<HTMLElement>()
  const height = 300, left = 56, right = width - 20, top = 26, bottom = height - 42
  const parts = sets.map(s => s.counts.map(c => c / Math.max(1, s.total)))
  const most = Math.max(0.001, ...curves.flatMap(c => c.points.map(p => p[1]))) * 1.15
  const x = exact(from, to, left, right)
  const y = linear(0, most, bottom, top)
  return <figure class="chart" ref={ref}>
    <figcaption>{title}</figcaption>
    <svg width={width} height={height} role="img" aria-label={`${title}: ${[...sets, ...curves].map(s => s.name).join(', ')}. The table below has the numbers.`}>
      <XAxis scale={x} y={bottom} top={top} label={label} count={Math.max(2, Math.floor(width / 110))} />
      <YAxis scale={y} x={left} right={right} label="share of all answers" />
      {parts.map((p, k) => {
        const w = (to - from) / p.length
        const d = p.map((v, i) => `L${x(from + i * w)},${y(Math.min(v, y.domain()[1]))}H${x(from + (i + 1) * w)}`).join('')
        return <path key={k} class={`area steps series-${k}`} d={`M${x(from)},${y(0)}${d}V${y(0)}Z`} />
      })}
      {curves.map((c, k) => <path key={c.name} class={`line series-${k}`} d={c.points.map((p, i) => `${i ? 'L' : 'M'}${x(p[0])},${y(p[1])}`).join('')} />)}
    </svg>
    <Legend names={curves.map(c => c.name)} />
  </figure>
}
