// Chance for the playground. It has no data to protect, so floating point is good enough here: the
// server draws from exact samplers on whole numbers.

// Random returns a number between 0 and 1, neither of which it is.
export type Random = () => number

const words = new Uint32Array(2048)
let used = words.length

function word() {
  if (used === words.length) {
    crypto.getRandomValues(words)
    used = 0
  }
  return words[used++]
}

export const random: Random = () => ((word() >>> 6) * 2 ** 26 + (word() >>> 6) + 0.5) / 2 ** 52

// fill makes every bit of an array a fair coin. A browser gives at most 65,536 bytes at a time.
export function fill(bits: Uint32Array<ArrayBuffer>) {
  for (let i = 0; i < bits.length; i += 16384) crypto.getRandomValues(bits.subarray(i, i + 16384))
}
