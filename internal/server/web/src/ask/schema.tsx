import { useState } from 'preact/hooks'
import type { ColumnInfo, Dataset, TableInfo } from '../api'
import { plural } from '../format'

// what says about a column what somebody who asks has to know.
function what(c: ColumnInfo): string {
  const parts = [c.type]
  if (c.bounds) parts.push(`${c.bounds.lowest} to ${c.bounds.highest}`)
  if (c.keys === 'private') parts.push('keys are private')
  return parts.join(', ')
}

// Schema shows what there is to ask about. A click writes the name into the question.
export function Schema({ dataset, onPick }: { dataset: Dataset; onPick: (name: string) => void }) {
  return <aside class="schema" aria-label="Tables and columns">
    <h2>{dataset.name}</h2>
    <p class="hint">One person: {dataset.unit === 'row' ? 'a row' : <>a value of <code>{dataset.unit}</code></>}</p>
    {dataset.tables.map(t => <Table key={t.name} table={t} onPick={onPick} open={dataset.tables.length < 6} />)}
    {dataset.views.map(v => <details key={v.name}>
      <summary><span class="name">{v.name}</span> <span class="hint">view</span></summary>
      <pre tabIndex={0}>{v.sql}</pre>
      <button type="button" class="quiet name" onClick={() => onPick(v.name)}>{v.name}</button>
    </details>)}
    <p class="legend hint"><span class="tag key">key</span> you can group by it · <span class="tag">0…110</span> values are clamped to this range · you can use columns without either in conditions</p>
  </aside>
}

function Table({ table, onPick, open }: { table: TableInfo; onPick: (name: string) => void; open: boolean }) {
  const [filter, setFilter] = useState('')
  const columns = table.columns.filter(c => c.name.toLowerCase().includes(filter.toLowerCase()))
  return <details open={open}>
    <summary><span class="name">{table.name}</span> {table.public ? <span class="tag free">public</span> : <span class="hint">{table.person === 'many' ? `up to ${plural(table.max_rows ?? 0, 'row')} per person` : 'one row per person'}</span>}</summary>
    {table.comment && <p class="hint">{table.comment}</p>}
    {table.columns.length > 12 && <input type="search" aria-label={`Find a column of ${table.name}`} placeholder="Find a column" onInput={e => setFilter(e.currentTarget.value)} />}
    <ul>
      {columns.map(c => <li key={c.name}>
        <button type="button" class="quiet name" title={`${what(c)}${c.comment ? ' · ' + c.comment : ''}. Click to add it to the question`} onClick={() => onPick(c.name)}>{c.name}</button>
        <span class="type">{c.type}</span>
        {c.keys === 'public' && <Keys column={c} />}
        {c.groups !== undefined && c.groups <= fewGroups && <span class="tag key" title="Can be grouped by: its type and bounds say which values there can be">key ({c.groups})</span>}
        {c.keys === 'private' && <span class="tag private" title="The list of values is private: rare ones are not shown">private keys</span>}
        {c.bounds && <span class="tag" title="Values are clamped to these bounds">{c.bounds.lowest}…{c.bounds.highest}</span>}
      </li>)}
    </ul>
  </details>
}

// fewGroups is how many groups a number without keys may make to be shown as a key: others are for sums.
const fewGroups = 120

function Keys({ column }: { column: ColumnInfo }) {
  const values = column.values ?? []
  return <span class="tag key" title={values.length ? `Can be grouped by: ${values.slice(0, 40).join(', ')}${values.length > 40 ? ', …' : ''}` : 'Can be grouped by'}>key{values.length ? ` (${values.length})` : ''}</span>
}
