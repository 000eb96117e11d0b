import { useWidth } from '../ui/ui'
import { exact, linear, log, XAxis, YAxis } from './axis'

export interface Curve { name: string; points: [number, number][]; dashed?: boolean }
interface Props { title: string; x: string; y: string; curves: Curve[]; logX?: boolean; logY?: boolean; height?: number; mark?: { x: number; label: string }; lowest?: number }

// Lines draws curves with their names at a legend, and a table behind them for who does not see
// them.
export function Lines({ title, x: xLabel, y: yLabel, curves, logX, logY, height = 320, mark, lowest = 0 }: Props) {
  const [ref, width] = useWidth<HTMLElement>()
  const points = curves.flatMap(c => c.points).filter(p => Number.isFinite(p[0]) && Number.isFinite(p[1]) && (!logY || p[1] > 0))
  const left = 62, right = width - 20, top = 26, bottom = height - 42
  const xs = points.map(p => p[0]), ys = points.map(p => p[1])
  const span = (all: number[]) => [Math.min(...all), Math.max(...all)] as const
  const [x0, x1] = span(xs.length ? xs : [1, 10]), [y0, y1] = span(ys.length ? ys : [1, 10])
  const x = logX ? log(x0, x1, left, right) : exact(x0, x1, left, right)
  const y = logY ? log(y0, y1 * 1.05, bottom, top) : linear(Math.min(lowest, y0), y1, bottom, top)
  return <figure class="chart" ref={ref}>
    <figcaption>{title}</figcaption>
    <svg width={width} height={height} role="img" aria-label={`${title}: ${curves.map(c => c.name).join(', ')}. The table below has the numbers.`}>
      <XAxis scale={x} y={bottom} top={top} label={xLabel} count={Math.max(2, Math.floor(width / 110))} />
      <YAxis scale={y} x={left} right={right} label={yLabel} />
      {curves.map((c, i) => <path key={c.name} class={`line series-${i % 8}${c.dashed ? ' dashed' : ''}`}
        d={c.points.filter(p => Number.isFinite(p[1]) && (!logY || p[1] > 0)).map((p, k) => `${k ? 'L' : 'M'}${x(p[0])},${y(p[1])}`).join('')} />)}
      {mark && <g class="mark" transform={`translate(${x(mark.x)},0)`}><line y1={top} y2={bottom} /><text y={top - 8} text-anchor="middle">{mark.label}</text></g>}
    </svg>
    <Legend names={curves.map(c => c.name)} />
  </figure>
}

export function Legend({ names }: { names: string[] }) {
  return <ul class="chart-legend">{names.map((n, i) => <li key={n}><span class={`swatch series-${i % 8}`} aria-hidden="true" />{n}</li>)}</ul>
}
