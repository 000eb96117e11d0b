export function View() {
  return <h1>Playground</h1>
}
