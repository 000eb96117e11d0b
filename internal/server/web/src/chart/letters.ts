// How much room texts take in charts, which are drawn in pixels.

let pen: CanvasRenderingContext2D | null = null

// widthOf is how wide a text is, in pixels.
export function widthOf(text: string, size = 12.5, weight = 400): number {
  pen ??= document.createElement('canvas').getContext('2d')
  if (!pen) return text.length * size * 0.6
  pen.font = `${weight} ${size}px ${getComputedStyle(document.documentElement).fontFamily}`
  return pen.measureText(text).width
}

// widest is how wide the widest of some texts is.
export const widest = (texts: string[]) => texts.reduce((most, t) => Math.max(most, widthOf(t)), 0)

// cut is as much of a text as there is room for.
export function cut(text: string, room: number): string {
  if (widthOf(text) <= room) return text
  const letters = [...text].slice(0, 200)
  while (letters.length > 1 && widthOf(letters.join('') + '…') > room) letters.pop()
  return letters.join('') + '…'
}

// wrap breaks a text into lines, between words where that is possible.
export function wrap(text: string, room: number, size: number, weight = 400): string[] {
  const fits = (s: string) => widthOf(s, size, weight) <= room
  const lines: string[] = []
  let line = ''
  for (let word of text.trim().split(/\s+/)) {
    if (fits(line + ' ' + word)) {
      line += (line && ' ') + word
      continue
    }
    if (line) lines.push(line)
    for (line = ''; !fits(word); word = word.slice(lines[lines.length - 1].length)) {
      const letters = [...word]
      while (letters.length > 1 && !fits(letters.join(''))) letters.pop()
      lines.push(letters.join(''))
    }
    line = word
  }
  return line ? [...lines, line] : lines
}
