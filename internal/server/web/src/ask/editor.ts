// The editor. It lives in a shadow root, where its styles are sheets and not elements, so that the
// content security policy needs no exception for them.
import { autocompletion, closeBrackets, completeFromList, closeBracketsKeymap, completionKeymap, type CompletionSource } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { schemaCompletionSource, SQLDialect } from '@codemirror/lang-sql'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, Prec } from '@codemirror/state'
import { drawSelection, EditorView, highlightSpecialChars, keymap, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Dataset } from '../api'
import { aggregates, functions, keywords } from './words'

export interface Editor {
  text(): string
  write(text: string): void
  insert(text: string): void
  // mark points at a place that was refused; null takes the mark away.
  mark(at: { from: number; to: number; message: string } | null): void
  know(dataset: Dataset): void
  focus(): void
  destroy(): void
}

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--syntax-keyword)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--syntax-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--syntax-number)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--syntax-name)' },
])

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--field)', color: 'var(--ink)', fontSize: '15px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', maxHeight: '45vh', minHeight: '7.5rem' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '0.6rem 0' },
  '.cm-line': { padding: '0 0.8rem' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-placeholder': { color: 'var(--quiet)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selection)' },
  '.cm-tooltip': { backgroundColor: 'var(--paper)', color: 'var(--ink)', border: '1px solid var(--line)', borderRadius: '6px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.9' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '3px' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--bad)' },
})

// schema is what completion knows of a dataset.
function schema(d: Dataset) {
  const out: Record<string, { label: string; type: string; detail?: string }[]> = {}
  for (const v of d.views) out[v.name] = []
  for (const t of d.tables) {
    out[t.name] = t.columns.map(c => ({ label: c.name, type: 'property', detail: c.type + (c.keys === 'public' || c.groups ? ', can be grouped by' : c.keys === 'private' ? ', private keys' : '') }))
  }
  return out
}

// dialect is PostgreSQL's with the words that a question can have: others, such as cost, are names.
const dialect = SQLDialect.define({
  doubleDollarQuotedStrings: true, operatorChars: '+-*/<>=~!@#%^&|`?', specialVar: '',
  keywords: [...keywords, ...aggregates].join(' ').toLowerCase(),
  types: 'bigint boolean char date decimal double integer numeric precision real smallint text timestamp varchar',
})

// offer proposes what a source does, but not the word that is there already.
const offer = (source: CompletionSource) => dialect.language.data.of({
  autocomplete: (async ctx => {
    const found = await source(ctx)
    if (!found) return null
    const typed = ctx.state.sliceDoc(found.from, ctx.pos).toLowerCase()
    return { ...found, validFor: undefined, options: found.options.filter(o => o.label.toLowerCase() !== typed) }
  }) satisfies CompletionSource,
})

const words = completeFromList([
  ...keywords.map(label => ({ label, type: 'keyword', boost: -1 })),
  ...[...aggregates, ...functions].map(label => ({ label, type: 'function' })),
])

// language knows names behind their table, and those of columns wherever they stand: most questions
// have one table. Of words it proposes those that a question can have.
const language = (d?: Dataset) => [
  dialect.extension,
  offer(words),
  d ? [
    offer(schemaCompletionSource({ dialect, schema: schema(d) })),
    offer(completeFromList([...new Map(Object.values(schema(d)).flat().map(c => [c.label, { ...c, boost: 50 }])).values()])),
  ] : [],
]

// Where a selection is typed over, the browser would keep the look of what was there by a style of
// its own in the markup, which the content security policy forbids. So it does not get to it.
const typedOver = EditorView.domEventHandlers({
  beforeinput: (e, view) => {
    const { from, to, empty } = view.state.selection.main
    if (e.inputType !== 'insertText' || e.data === null || empty || view.state.selection.ranges.length > 1) return false
    e.preventDefault()
    const change = () => view.state.update(view.state.replaceSelection(e.data!), { userEvent: 'input.type', scrollIntoView: true })
    if (!view.state.facet(EditorView.inputHandler).some(f => f(view, from, to, e.data!, change))) view.dispatch(change())
    return true
  },
})

export function mount(host: HTMLElement, text: string, hint: string, on: { change: (text: string) => void; run: () => void }): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const known = new Compartment()
  const view = new EditorView({
    root,
    parent: root as unknown as Element,
    state: EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(keymap.of([{ key: 'Mod-Enter', run: () => { on.run(); return true } }])),
        // Tab leaves the editor, as it does every other field.
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        history(), drawSelection(), highlightSpecialChars(), bracketMatching(), closeBrackets(), autocompletion({ icons: false, selectOnOpen: false }),
        typedOver, known.of(language()), syntaxHighlighting(colours), look, EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'Question in SQL', spellcheck: 'false', autocapitalize: 'off' }),
        placeholder(hint),
        EditorView.updateListener.of(u => u.docChanged && on.change(u.state.doc.toString())),
      ],
    }),
  })
  return {
    text: () => view.state.doc.toString(),
    write: t => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: t }, selection: { anchor: t.length } }),
    insert: t => { view.dispatch(view.state.replaceSelection(t)); view.focus() },
    mark: at => {
      const end = view.state.doc.length
      view.dispatch(setDiagnostics(view.state, at ? [{ from: Math.min(at.from, end), to: Math.min(Math.max(at.to, at.from), end), severity: 'error', message: at.message }] : []))
    },
    know: d => view.dispatch({ effects: known.reconfigure(language(d)) }),
    focus: () => view.focus(),
    destroy: () => { view.destroy(); root.replaceChildren() },
  }
}
