import { type Definition, readDefinition } from './definition.ts';

/** The tools of a server, and one sentence for each way in which the list was cut. */
export type Listing = { readonly definitions: readonly Definition[]; readonly cuts: readonly string[] };

const maxTools = 1000;

/** Takes in the pages of a list (05 §10.5.1): what is no tool, and what is too much, is left out and said. */
export function createCollection() {
  const found = new Map<string, Definition>();
  const cuts = new Set<string>();
  const unusable: string[] = [];
  return {
    add(tools: unknown): void {
      if (!Array.isArray(tools)) return;
      for (const tool of tools) {
        if (found.size >= maxTools) {
          cuts.add(`it has more than ${maxTools} tools; the rest is left out`);
          return;
        }
        const definition = readDefinition(tool);
        if (definition === null) unusable.push(nameIn(tool));
        else if (found.has(definition.name)) cuts.add(`a second tool named ${definition.name} is left out`);
        else found.set(definition.name, definition);
      }
    },
    isFull: () => found.size >= maxTools && cuts.size > 0,
    cut: (text: string) => void cuts.add(text),
    listing: (): Listing => ({ definitions: [...found.values()], cuts: [...unusableCut(unusable), ...cuts] }),
  };
}

/** A sentence names a few. */
const mostNamed = 5;

function unusableCut(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  const what = names.length === 1 ? 'a tool is' : `${names.length} tools are`;
  return [`${what} left out for want of a usable name or schema: ${names.slice(0, mostNamed).join(', ')}${more}`];
}

const nameIn = (tool: unknown): string => {
  const name = typeof tool === 'object' && tool !== null && 'name' in tool ? tool.name : null;
  return typeof name === 'string' ? JSON.stringify(name.slice(0, 64)) : 'one without a name';
};
