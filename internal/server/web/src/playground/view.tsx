import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { Link, usePlace } from '../router'
import { Empty } from '../ui/ui'
import { Composition } from './composition'
import { Holdout } from './holdout'
import { Noise } from './noise'
import { Survey } from './survey'

// A picture is two lines in a field of 96 by 56.
const rooms: Record<string, { title: string; about: string; picture: [string, string]; Room: ComponentType }> = {
  noise: { title: 'Noise', about: 'One person more or less, and the answers still look alike. Draw noise and watch what it hides.', picture: ['M2,54C22,52 28,4 40,4S58,52 94,54', 'M2,54C38,52 44,4 56,4S74,52 94,54'], Room: Noise },
  composition: { title: 'Many questions', about: 'How much a thousand answers reveal together, by each of five theorems.', picture: ['M2,54L94,4', 'M2,54C10,36 50,28 94,24'], Room: Composition },
  survey: { title: 'A survey', about: 'Answer an embarrassing question. Your browser lies for you, and the crowd still tells the truth.', picture: ['M2,8C12,50 24,10 40,36S70,26 94,28', 'M2,2C30,20 60,24 94,25M2,54C30,38 60,33 94,31'], Room: Survey },
  holdout: { title: 'A test set that lasts', about: 'Ask a test set too often and it flatters you. A little noise keeps it honest.', picture: ['M2,44L16,46L30,42L44,46L58,43L72,46L94,44', 'M2,44L14,34L28,30L40,22L56,18L70,10L94,4'], Room: Holdout },
}

// View is the playground: it needs no account, has no data, and sends nothing.
export function View() {
  const name = usePlace().path.split('/')[2] ?? ''
  const room = Object.hasOwn(rooms, name) ? rooms[name] : undefined
  useEffect(() => { document.title = `${room ? room.title + ' · ' : ''}Playground · Discreet` }, [room])
  return <div class="playground">
    <nav class="sub" aria-label="Playground">
      <Link to="/playground" current={name === ''}>All</Link>
      {Object.entries(rooms).map(([k, r]) => <Link key={k} to={'/playground/' + k} current={k === name}>{r.title}</Link>)}
    </nav>
    {name === '' ? <Entrance /> : room ? <room.Room key={name} /> : <><h1>Playground</h1><Empty title="There is nothing at this address"><p><Link to="/playground">The whole playground</Link></p></Empty></>}
  </div>
}

function Entrance() {
  return <>
    <h1>Playground</h1>
    <p class="lead">Differential privacy lets a database answer about everybody without giving away anybody: answers have just enough noise that one person more or less makes no visible difference. Here you can try it.
      Nothing here is about real people, and nothing leaves your browser.</p>
    <ul class="cards doors">{Object.entries(rooms).map(([k, r]) => <li key={k} class="card"><h2><Link to={'/playground/' + k}>{r.title}</Link></h2><p>{r.about}</p>
      <svg viewBox="0 0 96 58" width="96" height="58" aria-hidden="true">{r.picture.map((d, i) => <path key={i} class={`line series-${i}`} d={d} />)}</svg></li>)}</ul>
  </>
}
