import { explain, type Answer, type Explanation, type Question } from '../api'
import { epsilon, rough, significant } from '../format'
import { useLoaded } from '../ui/ui'
import { averaged, errorOf, type Choice } from './price'

// Ladder says what the next rungs would cost: a sharper answer pays the difference to the one that
// was paid.
export function Ladder({ question, paid, answer, max, onClimb }: { question: Question; paid: Explanation; answer: Answer; max: number; onClimb: (c: Choice) => void }) {
  const error = errorOf(paid)
  const base = paid.cost.epsilon
  // Averages have errors of their own, which came with the answer, and shrink as those of their sums do.
  const own = averaged(paid) && error ? widest(answer) : null
  const said = (e: number) => (own === null ? '±' + rough(e) : '≈ ±' + rough((own * e) / error!))
  const rungs = useLoaded(async signal => {
    const prices = [2, 4].map(k => Number((base * k).toPrecision(3))).filter(p => p > 0 && p <= max)
    return Promise.all(prices.map(price => explain({ ...question, settings: { 'dp.epsilon': price } }, signal).then(e => ({ price, e }))))
  }, [question.sql, question.dataset, base, answer.receipt.sequence])
  if (!base || !rungs.value?.length) return null
  return <p class="ladder">
    <span>{error === null ? `${epsilon(base)} paid` : `${own === null ? '' : 'up to '}±${rough(own ?? error)} paid`}</span>
    {rungs.value.map(({ price, e }) => {
      const sharp = errorOf(e)
      const free = e.pay.epsilon === 0
      return <button type="button" key={price} class="quiet" disabled={!e.affordable} title={e.affordable ? undefined : 'More than you have left'} onClick={() => onClimb({ epsilon: price })}>
        {sharp === null ? `a rank error of ${Math.round(100 * base / price)} %` : said(sharp)} {free ? 'free' : `for ${significant(e.pay.epsilon, 2)} more`}
      </button>
    })}
  </p>
}

// widest is the largest error of the first column that has any.
function widest(a: Answer): number | null {
  const column = a.columns.findIndex((_, i) => a.errors?.some(row => row[i] !== null))
  return column < 0 ? null : Math.max(...a.errors!.map(row => row[column] ?? 0))
}
