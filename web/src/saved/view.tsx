export function View() {
  return <h1>Saved</h1>
}
