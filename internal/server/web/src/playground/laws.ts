// Noise: how it is drawn, and what its exact law is.
import type { Random } from './random'

// Law is a distribution around 0.
export interface Law {
  density(x: number): number
  below(x: number): number // the probability of less than x
  draw(random: Random): number
}

export const laplace = (scale: number): Law => ({
  density: x => Math.exp(-Math.abs(x) / scale) / (2 * scale),
  below: x => (x < 0 ? Math.exp(x / scale) / 2 : 1 - Math.exp(-x / scale) / 2),
  draw: random => (random() < 0.5 ? -1 : 1) * -scale * Math.log(random()),
})

export const gaussian = (deviation: number): Law => ({
  density: x => density(x / deviation) / deviation,
  below: x => tail(-x / deviation),
  // Box, Muller 1958
  draw: random => deviation * Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random()),
})

const density = (x: number) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)

// tail is the probability that a standard normal number is above x: a series in the middle, and
// Laplace's continued fraction far out, where the series would cancel.
export function tail(x: number): number {
  if (x < 0) return 1 - tail(-x)
  if (x < 2.5) {
    let sum = x, term = x
    for (let n = 3; term > sum * 1e-17; n += 2) sum += term *= (x * x) / n
    return 0.5 - density(x) * sum
  }
  let fraction = x
  for (let n = 120; n > 0; n--) fraction = x + n / fraction
  return density(x) / fraction
}

// gaussianDelta is what Gaussian noise needs of delta at epsilon, where one person moves the answer
// by mu deviations (Balle, Wang 2018, Theorem 8).
export const gaussianDelta = (mu: number, epsilon: number) =>
  tail(epsilon / mu - mu / 2) - Math.exp(epsilon) * tail(epsilon / mu + mu / 2)

// deviationFor is the smallest deviation of Gaussian noise that is (epsilon, delta)-private where
// one person moves the answer by so much.
export function deviationFor(epsilon: number, delta: number, moves: number) {
  let low = Math.log(1e-3), high = Math.log(1e6)
  while (high - low > 1e-12) {
    const middle = (low + high) / 2
    if (gaussianDelta(Math.exp(-middle), epsilon) <= delta) high = middle
    else low = middle
  }
  return moves * Math.exp(high)
}

// chances are those of the exponential mechanism (McSherry, Talwar 2007) for counts: who joins only
// raises them, so no factor of a half is needed.
export function chances(epsilon: number, scores: number[]) {
  const most = Math.max(...scores)
  const weights = scores.map(s => Math.exp(epsilon * (s - most)))
  const sum = weights.reduce((a, b) => a + b, 0)
  return weights.map(w => w / sum)
}

// pick draws a place of a list of chances.
export function pick(all: number[], random: Random) {
  let u = random()
  for (let i = 0; i < all.length - 1; i++) if ((u -= all[i]) < 0) return i
  return all.length - 1
}

// apart is the probability with which the best guess is right which of two databases an answer came
// from, if both were as likely before: for lists of chances, and for laws that are moved by so much.
export const apart = (a: number[], b: number[]) => 0.5 + a.reduce((sum, x, i) => sum + Math.abs(x - b[i]), 0) / 4
export const apartBy = (law: Law, moves: number) => law.below(moves / 2)
