export function Questions({ dataset }: { dataset: string }) {
  return <p hidden>{dataset}</p>
}
