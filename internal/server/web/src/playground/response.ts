// Randomized response (Warner 1965): everybody lies now and then, and the whole can be told from it.
import type { Random } from './random'

// truth is the probability of the true answer at epsilon.
export const truth = (epsilon: number) => 1 / (1 + Math.exp(-epsilon))

export const randomised = (answer: boolean, epsilon: number, random: Random) => (random() < truth(epsilon)) === answer

export interface Estimate { people: number; value: number; low: number; high: number }

const quantile = 1.959963984540054 // of the normal distribution, for 95 %

// estimate makes of randomised answers the share of those who would have said yes. The interval is
// Wilson's (1927) for what was said, undone like the estimate: the lies are subtracted.
export function estimate(yes: number, people: number, epsilon: number): Estimate {
  const p = truth(epsilon)
  const undo = (said: number) => Math.min(1, Math.max(0, (said - 1 + p) / (2 * p - 1)))
  const said = yes / people, z = (quantile * quantile) / people
  const middle = (said + z / 2) / (1 + z)
  const half = Math.sqrt(z * (said * (1 - said) + z / 4)) / (1 + z)
  return { people, value: undo(said), low: undo(middle - half), high: undo(middle + half) }
}

// blur is by how much wider the interval is than if everybody told the truth, for a share.
export function blur(share: number, epsilon: number) {
  const p = truth(epsilon)
  const said = share * p + (1 - share) * (1 - p)
  return Math.sqrt((said * (1 - said)) / (share * (1 - share))) / (2 * p - 1)
}

// crowd asks made-up people, of whom a share would say yes, and stops at each of the numbers to
// estimate. It begins with those who have been asked already.
export function crowd(share: number, epsilon: number, stops: number[], random: Random, asked = 0, yes = 0): Estimate[] {
  return stops.map(stop => {
    for (; asked < stop; asked++) if (randomised(random() < share, epsilon, random)) yes++
    return estimate(yes, asked, epsilon)
  })
}
