export function View() {
  return <h1>Streams</h1>
}
