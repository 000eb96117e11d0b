// What k answers of a given epsilon cost together, at a total delta, by each theorem. An answer is
// any that has this epsilon and no delta of its own. The tests hold each against package account,
// whose words are in the comments there; here the numbers are not rounded outward.

export type Theorem = (epsilon: number, k: number, delta: number) => number

// simple is the sum (Dwork, McSherry, Nissim, Smith 2006).
export const simple: Theorem = (epsilon, k) => k * epsilon

// advanced is Dwork, Rothblum, Vadhan 2010, with its second term.
export const advanced: Theorem = (epsilon, k, delta) => Math.sqrt(2 * k * Math.log(1 / delta)) * epsilon + k * epsilon * Math.expm1(epsilon)

// optimal is Kairouz, Oh, Viswanath 2015: the worst case is k randomized responses, whose loss with
// j lies is (k - 2j) epsilon. It is walked down from no lie. At the loss of j lies
//
//	mass = sum P(i) exp(loss(j) - loss(i)) and met = sum P(i) - mass, over i up to j,
//
// and met is delta there; between two losses delta grows by (1 - exp(-s)) mass at s below the upper.
export const optimal: Theorem = (epsilon, k, delta) => {
  const decay = Math.exp(-2 * epsilon), rise = -Math.expm1(-2 * epsilon)
  let log = -k * Math.log1p(Math.exp(-epsilon)) // of the probability of j lies
  let mass = Math.exp(log), met = 0
  for (let j = 0; 2 * j < k; j++) {
    const next = met + rise * mass
    if (next >= delta) return Math.max(0, (k - 2 * j) * epsilon + Math.log1p(-(delta - met) / mass))
    log += Math.log((k - j) / (j + 1)) - epsilon
    met = next
    mass = decay * mass + Math.exp(log)
  }
  return 0
}

// renyi is Mironov 2017 with the conversion of Canonne, Kamath, Steinke 2020: the curve of
// randomized response, k times, at the order that is best.
export const renyi: Theorem = (epsilon, k, delta) => best(t => k * curve(epsilon, t), delta)

// concentrated is Bun, Steinke 2016 with the same conversion: rho = epsilon tanh(epsilon/2) adds
// up, and is a curve that is a straight line.
export const concentrated: Theorem = (epsilon, k, delta) => {
  const rho = k * epsilon * Math.tanh(epsilon / 2)
  return best(t => rho * (1 + t), delta)
}

// curve is the divergence of order 1 + t of randomized response, where nothing cancels.
function curve(epsilon: number, t: number) {
  const a = 1 + t
  if (a * epsilon < 30) {
    return Math.min(epsilon, Math.log1p((2 * Math.sinh((a * epsilon) / 2) * Math.sinh((t * epsilon) / 2)) / Math.cosh(epsilon / 2)) / t)
  }
  return Math.min(epsilon, epsilon + (Math.log1p(Math.exp(-(a + t) * epsilon)) - Math.log1p(Math.exp(-epsilon))) / t)
}

// best is the smallest epsilon that a curve gives at any order 1 + t, by a scan of ln t and a
// search by golden section around the best of it.
function best(divergence: (t: number) => number, delta: number) {
  const at = (x: number) => {
    const t = Math.exp(x)
    return divergence(t) - Math.log1p(1 / t) - (Math.log(delta) + Math.log1p(t)) / t
  }
  let low = -12
  for (let x = low; x <= 40; x += 0.5) if (at(x) < at(low)) low = x
  let high = low + 0.5
  low -= 0.5
  const part = (Math.sqrt(5) - 1) / 2
  while (high - low > 1e-7) {
    const a = high - part * (high - low), b = low + part * (high - low)
    if (at(a) <= at(b)) high = b
    else low = a
  }
  return Math.max(0, at((low + high) / 2))
}

// certain is how often somebody guesses right, at most, who would guess right half of the time:
// true and false alarms are at most exp(epsilon) times each other's complement and delta more.
export const certain = (epsilon: number, delta: number) => 1 / (1 + Math.exp(-epsilon)) + delta / (1 + Math.exp(epsilon))
