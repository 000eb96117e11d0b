import { useState } from 'preact/hooks'
import { save } from '../ui/ui'
import { wrap } from './letters'

// Words are what the page says beside a chart, and what has to go with it.
export interface Words { file: string; title: string; question: string; below: string[] }

// Take saves a chart as a file that says what it is, wherever it goes.
export function Take({ words }: { words: Words }) {
  const [trouble, say] = useState('')
  const drawn = (button: HTMLElement) => drawing(button.closest('figure')!.querySelector('svg')!, words)
  return <span class="take">
    <span class="hint" role="status">{trouble}</span>
    <button type="button" class="quiet" aria-label={`PNG of ${words.title}`} onClick={async e => {
      const picture = await png(drawn(e.currentTarget)).catch(() => null)
      if (picture) save(words.file + '.png', 'image/png', picture)
      say(picture ? '' : 'Too large for a PNG: save the SVG.')
    }}>PNG</button>
    <button type="button" class="quiet" aria-label={`SVG of ${words.title}`} onClick={e => save(words.file + '.svg', 'image/svg+xml', drawn(e.currentTarget).text)}>SVG</button>
  </span>
}

interface Drawing { text: string; width: number; height: number }

const edge = 16 // around all of it
const mostLines = 5 // of the question

// drawing is a chart on white, in the colours of a light page, with its words above and below. All
// styles become attributes: the file has no style sheet, and needs nothing else.
function drawing(shown: SVGSVGElement, words: Words): Drawing {
  const host = document.createElement('div')
  host.className = 'light chart unseen'
  host.append(shown.cloneNode(true))
  document.body.append(host)
  const chart = host.firstElementChild as SVGSVGElement
  for (const e of chart.querySelectorAll('text, line, path, circle')) {
    const style = getComputedStyle(e)
    for (const name of e.matches('text') ? ['fill', 'font-size'] : ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity']) {
      e.setAttribute(name, style.getPropertyValue(name).replaceAll('px', ''))
    }
  }
  chart.querySelectorAll('[class]').forEach(e => e.removeAttribute('class'))
  const light = getComputedStyle(host)
  const ink = light.getPropertyValue('--ink'), quiet = light.getPropertyValue('--quiet'), font = light.fontFamily
  host.remove()

  const wide = Number(shown.getAttribute('width')), width = wide + 2 * edge
  const out = make('svg', { 'font-family': font })
  const paper = out.appendChild(make('rect', { fill: '#ffffff' }))
  let y = edge
  const write = (text: string, size: number, fill: string, weight = 400, most = Infinity) => {
    const lines = wrap(text, wide, size, weight)
    if (lines.length > most) lines.splice(most, lines.length, '…')
    for (const line of lines) {
      y += size * 1.4
      out.append(make('text', { x: edge, y: y - size * 0.35, 'font-size': size, 'font-weight': weight, fill }, line))
    }
  }
  out.prepend(make('title', {}, words.title))
  write(words.title, 16, ink, 600)
  write(words.question, 12, quiet, 400, mostLines)
  const drawn = out.appendChild(make('g', { transform: `translate(${edge},${y += 10})` }))
  drawn.append(...chart.childNodes)
  y += Number(shown.getAttribute('height')) + 6
  for (const text of words.below) {
    write(text, 12, quiet)
    y += 4
  }
  const height = Math.ceil(y + edge)
  for (const e of [out, paper]) {
    e.setAttribute('width', String(width))
    e.setAttribute('height', String(height))
  }
  out.setAttribute('viewBox', `0 0 ${width} ${height}`)
  return { text: new XMLSerializer().serializeToString(out).replace(unwritable, '\ufffd'), width, height }
}

// What a key can have in it and XML cannot.
const unwritable = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g

function make(tag: string, attributes: Record<string, string | number>, text = '') {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, String(value))
  e.textContent = text
  return e
}

// png is a drawing with two pixels for each of its own, for sharp screens and paper.
async function png({ text, width, height }: Drawing): Promise<Blob | null> {
  const image = new Image()
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text)
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = 2 * width
  canvas.height = 2 * height
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height)
  return new Promise(done => canvas.toBlob(done, 'image/png'))
}
