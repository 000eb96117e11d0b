import type { ComponentType } from 'preact'
import { Link, usePlace } from '../router'
import { Empty } from '../ui/ui'
import { Composition } from './composition'
import { Holdout } from './holdout'
import { Noise } from './noise'
import { Survey } from './survey'

const rooms: Record<string, { title: string; about: string; Room: ComponentType }> = {
  noise: { title: 'Noise', about: 'One person more or less, and answers that look alike. Draw noise and watch what it hides.', Room: Noise },
  composition: { title: 'Many questions', about: 'What a thousand answers are worth together, by each of five theorems.', Room: Composition },
  survey: { title: 'A survey', about: 'Answer an embarrassing question. Your browser lies for you, and the crowd still tells the truth.', Room: Survey },
  holdout: { title: 'A test set that lasts', about: 'Ask a test set too often and it flatters you. A little noise keeps it honest.', Room: Holdout },
}

// View is the playground: it needs no account, has no data, and sends nothing.
export function View() {
  const name = usePlace().path.split('/')[2] ?? ''
  const room = Object.hasOwn(rooms, name) ? rooms[name] : undefined
  return <div class="playground">
    <nav class="subnav" aria-label="Playground">
      <Link to="/playground" current={name === ''}>All</Link>
      {Object.entries(rooms).map(([k, r]) => <Link key={k} to={'/playground/' + k} current={k === name}>{r.title}</Link>)}
    </nav>
    {name === '' ? <Entrance /> : room ? <room.Room key={name} /> : <Empty title="There is nothing at this address"><p><Link to="/playground">The playground</Link></p></Empty>}
  </div>
}

function Entrance() {
  return <>
    <h1>Playground</h1>
    <p class="lead">Differential privacy lets a database answer about everybody without giving away anybody: answers have just enough noise that one person more or less cannot be seen in them. Here you can try how.
      Nothing here is about real people, and nothing leaves your browser.</p>
    <ul class="cards doors">{Object.entries(rooms).map(([k, r]) => <li key={k} class="card"><h2><Link to={'/playground/' + k}>{r.title}</Link></h2><p>{r.about}</p></li>)}</ul>
  </>
}
