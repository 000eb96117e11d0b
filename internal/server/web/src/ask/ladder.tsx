import { explain, type Answer, type Explanation, type Question } from '../api'
import { epsilon, rough, significant } from '../format'
import { useLoaded } from '../ui/ui'
import { averageColumn, averaged, errorOf, widest, type Choice } from './price'

// Ladder says what the next rungs would cost: a sharper answer pays the difference to the one that
// was paid.
export function Ladder({ question, paid, answer, max, onClimb }: { question: Question; paid: Explanation; answer: Answer; max: number; onClimb: (c: Choice) => void }) {
  const error = errorOf(paid)
  const base = paid.cost.epsilon
  // Averages have errors of their own, which came with the answer, and shrink as those of their sums do.
  const own = averaged(paid) && error ? widest(answer, averageColumn(answer, paid)) : null
  const said = (e: number) => (own === null ? '±' + rough(e) : '≈ ±' + rough((own * e) / error!))
  const rungs = useLoaded(async signal => {
    const prices = [2, 4].map(k => Number((base * k).toPrecision(3))).filter(p => p > 0 && p <= max)
    return Promise.all(prices.map(price => explain({ ...question, settings: { ...question.settings, 'dp.epsilon': price } }, signal).then(e => ({ price, e }))))
  }, [JSON.stringify(question), base, answer.receipt.sequence])
  if (!base || !rungs.value?.length) return null
  return <p class="ladder">
    <span>{error === null ? `${epsilon(base)} paid` : `${own === null ? '' : 'up to '}±${rough(own ?? error)} paid`}</span>
    {rungs.value.map(({ price, e }) => {
      const sharp = errorOf(e)
      if (sharp !== null && error !== null && sharp > 0.9 * error) return null // other noise, which is no sharper
      const free = e.pay.epsilon === 0
      return <button type="button" key={price} class="quiet" disabled={!e.affordable} title={e.affordable ? undefined : 'More than you have left'} onClick={() => onClimb({ epsilon: price })}>
        {sharp === null ? (price > 3 * base ? 'about a quarter of the error' : 'about half the error') : said(sharp)} {free ? 'free' : `for ${significant(e.pay.epsilon, 2)} more`}
      </button>
    })}
  </p>
}
