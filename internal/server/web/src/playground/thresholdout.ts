// Thresholdout against a plain holdout (Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015), on
// people whose attributes have nothing to do with the label.
import { laplace } from './laws'
import type { Random } from './random'

// World has a bit for each attribute and person: whether the attribute guesses the label right. All
// are fair coins. The sets are training, holdout and new people.
export interface World {
  people: number
  attributes: number
  words: number
  sets: Uint32Array[]
  alone: Float64Array[] // how often each attribute is right by itself, in training and holdout
}

export function world(people: number, attributes: number, fill: (bits: Uint32Array<ArrayBuffer>) => void): World {
  const words = Math.ceil(people / 32)
  const sets = [0, 1, 2].map(() => {
    const bits = new Uint32Array(words * attributes)
    fill(bits)
    const last = people % 32
    if (last) for (let i = words - 1; i < bits.length; i += words) bits[i] &= 2 ** last - 1
    return bits
  })
  const alone = sets.slice(0, 2).map(bits => Float64Array.from({ length: attributes }, (_, j) => ones(bits, j * words, words) / people))
  return { people, attributes, words, sets, alone }
}

// A judge says how good something is that is right so often on training and on holdout data.
export type Judge = (training: number, held: number) => number

export const plain: Judge = (_, held) => held

// thresholdout answers with the training score as long as the holdout confirms it, and counts how
// often it did not.
export function thresholdout(threshold: number, noise: number, random: Random) {
  const answer = laplace(noise), level = laplace(2 * noise), each = laplace(4 * noise)
  let now = threshold + level.draw(random)
  const said = { overruled: 0, asked: 0 }
  const judge: Judge = (training, held) => {
    said.asked++
    if (Math.abs(held - training) <= now + each.draw(random)) return training
    said.overruled++
    now = threshold + level.draw(random)
    return held + answer.draw(random)
  }
  return { judge, said }
}

export interface Step { used: number; training: number; reported: number; fresh: number }

// overfit is the analyst: asks how good each attribute alone is, keeps those that training and the
// holdout agree about, and lets the best of them vote, more and more of them. The first vote is of
// three times as many as there will be, and is not shown: it ends a round of Thresholdout whose
// threshold happened to be high, and which therefore has lasted until now.
export function overfit(w: World, judge: Judge, most: number): Step[] {
  const chosen = choose(w, judge)
  const wide = new Vote(w)
  for (const c of chosen.slice(0, 3 * most - 1)) wide.add(c)
  judge(wide.right(0), wide.right(1))
  const vote = new Vote(w)
  const steps: Step[] = []
  chosen.slice(0, most).forEach((c, i) => {
    vote.add(c)
    if (i % 2) return // an even number of votes may be undecided
    const training = vote.right(0)
    steps.push({ used: i + 1, training, reported: judge(training, vote.right(1)), fresh: vote.right(2) })
  })
  return steps
}

interface Candidate { attribute: number; sign: number; strength: number }

// Vote is how attributes vote on every person of every set: above 0 they are right.
class Vote {
  private votes: Int16Array[]
  constructor(private w: World) {
    this.votes = w.sets.map(() => new Int16Array(w.people))
  }
  add({ attribute, sign }: Candidate) {
    const { words, sets } = this.w, from = attribute * words
    this.votes.forEach((votes, s) => {
      const bits = sets[s]
      for (let i = 0; i < votes.length; i++) votes[i] += (bits[from + (i >> 5)] >>> (i & 31)) & 1 ? sign : -sign
    })
  }
  right(set: number) {
    let n = 0
    for (const v of this.votes[set]) if (v > 0) n++
    return n / this.w.people
  }
}

function choose(w: World, judge: Judge) {
  const out: Candidate[] = []
  for (let j = 0; j < w.attributes; j++) {
    const training = w.alone[0][j] - 0.5
    const said = judge(w.alone[0][j], w.alone[1][j]) - 0.5
    if (training * said > 0) out.push({ attribute: j, sign: Math.sign(training), strength: Math.min(Math.abs(training), Math.abs(said)) })
  }
  return out.sort((a, b) => b.strength - a.strength)
}

// ones counts bits, those of a word at once.
function ones(bits: Uint32Array, from: number, words: number) {
  let n = 0
  for (let i = from; i < from + words; i++) {
    let x = bits[i]
    x -= (x >>> 1) & 0x55555555
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333)
    n += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return n
}
