// Places in a question. The server counts bytes, and the browser units of UTF-16.

export function placeOf(text: string, bytes: number): number {
  const encoder = new TextEncoder()
  let n = 0
  for (let i = 0; i < text.length; ) {
    if (n >= bytes) return i
    const c = String.fromCodePoint(text.codePointAt(i)!)
    n += encoder.encode(c).length
    i += c.length
  }
  return text.length
}

// wordAt is the word that begins at a place, or the one character there.
export function wordAt(text: string, from: number): { from: number; to: number } {
  const word = /^("(?:[^"]|"")*"|'(?:[^']|'')*'|[\p{L}_][\p{L}\p{N}_$]*|\d[\d.]*)/u.exec(text.slice(from))
  return { from, to: Math.min(text.length, from + (word ? word[0].length : 1)) }
}

// distance is how many letters have to be changed, for which name was meant.
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)))
    row = next
  }
  return row[b.length]
}

// suggestions are what could stand at a place that was refused: names that the refusal lists, the
// nearest first, and what it says to write.
export function suggestions(word: string, instead: string | undefined): string[] {
  if (!instead) return []
  const quoted = /^"([^"]*)"$/.exec(word)
  if (quoted && /single quotes/.test(instead)) return [/^-?\d+(\.\d+)?$/.test(quoted[1]) ? quoted[1] : `'${quoted[1].replaceAll("'", "''")}'`]
  const far = (n: string) => distance(word.toLowerCase(), n.toLowerCase())
  const near = (names: string[]) => names.sort((a, b) => far(a) - far(b)).filter((n, _, all) => far(n) <= Math.max(2, word.length / 2) && far(n) <= far(all[0]) + 1).slice(0, 3)
  const list = /^(?:the (?:tables|columns|datasets|functions|keys)(?: of [^ ]+)? are|there (?:is|are)) (.+?)\.?$/.exec(instead)
  if (list) {
    const names = list[1].split(/, | and /).filter(n => /^("[^"]+"|[\p{L}_][\p{L}\p{N}_.]*)$/u.test(n))
    return near(names)
  }
  const written = /(?:^|; )(?:write|use|ask for|say) ((?:[A-Z_]+|[a-z_]+\()[^;]*?)(?:,? (?:as|instead|or|which|where|for)\b.*)?$/.exec(instead)
  if (written && /^[A-Z_]+(, [A-Z_]+)+$/.test(written[1])) return near(written[1].split(', '))
  return written && written[1].length < 80 ? [written[1]] : []
}

// rewritten is the question as its refusal says that it could be, where that is an example with the
// names of the question: other columns, or a condition more.
export function rewritten(sql: string, instead: string | undefined): string | null {
  const from = /\bFROM\s+("[^"]+"|[\p{L}_][\p{L}\p{N}_.]*)/iu.exec(sql)
  const shape = /as in (SELECT .+?) \.\.\. (GROUP BY [^;]+?)\.?$/.exec(instead ?? '')
  if (shape && from && /^\s*SELECT\s+\*\s+FROM\s+\S+\s*(LIMIT\s+\d+\s*)?;?\s*$/i.test(sql)) return `${shape[1]} ${from[0]} ${shape[2]}`
  const condition = /as in (WHERE [^;]+?)(?:, or |\.?$)/.exec(instead ?? '')
  const group = sql.search(/\bGROUP\s+BY\b/i)
  if (condition && from && group > 0 && !/\bWHERE\b|\(\s*SELECT\b/i.test(sql)) return `${sql.slice(0, group)}${condition[1]} ${sql.slice(group)}`
  return null
}
