export function Policy({ dataset }: { dataset: string }) {
  return <p hidden>{dataset}</p>
}
