import { type Definition, readDefinition } from './definition.ts';
import { maxMessageBytes } from './pipe.ts';

/** The tools of a server, and one sentence for each way in which the list was cut. */
export type Listing = { readonly definitions: readonly Definition[]; readonly cuts: readonly string[] };

const maxTools = 1000;
/** A list comes in pages, and each of them may be as large as a message: what is kept of them all is no more than one. */
const maxListUnits = maxMessageBytes;
/** A sentence names a few. */
const mostNamed = 5;

/** Takes in the pages of a list (05 §10.5.1): what is no tool, and what is too much, is left out and said. */
export function createCollection() {
  const found = new Map<string, Definition>();
  const cuts = new Set<string>();
  const unusable = createTally();
  const repeated = createTally();
  let units = 0;
  const fits = (definition: Definition): boolean => {
    const length = JSON.stringify(definition).length;
    if (units + length > maxListUnits) return false;
    units += length;
    return true;
  };
  return {
    add(tools: unknown): void {
      if (!Array.isArray(tools)) return;
      for (const tool of tools) {
        if (found.size >= maxTools) {
          cuts.add(`it has more than ${maxTools} tools; the rest is left out`);
          return;
        }
        const definition = readDefinition(tool);
        if (definition === null) unusable.count(() => nameIn(tool));
        else if (found.has(definition.name)) repeated.count(() => definition.name);
        else if (fits(definition)) found.set(definition.name, definition);
        else cuts.add('its list of tools is larger than 16 MiB; what goes beyond is left out');
      }
    },
    isFull: () => found.size >= maxTools && cuts.size > 0,
    cut: (text: string) => void cuts.add(text),
    listing: (): Listing => ({
      definitions: [...found.values()],
      cuts: [
        ...unusable.told((count, names) => {
          const what = count === 1 ? 'a tool is' : `${count} tools are`;
          return `${what} left out for want of a usable name or schema: ${names}`;
        }),
        ...repeated.told((count, names) => {
          const what = count === 1 ? 'a second tool named' : `${count} tools named as one before them are left out:`;
          return `${what} ${names}${count === 1 ? ' is left out' : ''}`;
        }),
        ...cuts,
      ],
    }),
  };
}

/** Counts what is left out, however much that is, and keeps a few names. */
function createTally() {
  const names: string[] = [];
  let all = 0;
  return {
    count(name: () => string): void {
      all += 1;
      if (names.length < mostNamed) names.push(name());
    },
    told(sentence: (count: number, names: string) => string): readonly string[] {
      if (all === 0) return [];
      return [sentence(all, `${names.join(', ')}${all > names.length ? ` and ${all - names.length} more` : ''}`)];
    },
  };
}

const nameIn = (tool: unknown): string => {
  const name = typeof tool === 'object' && tool !== null && 'name' in tool ? tool.name : null;
  return typeof name === 'string' ? JSON.stringify(name.slice(0, 64)) : 'one without a name';
};
