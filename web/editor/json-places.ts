/** Where a value stands in a text, from its first character to behind its last. */
export type Place = { readonly from: number; readonly to: number };

/** Names of the way to a value, from the outside in. */
export type Steps = readonly (string | number)[];

/**
 * Where each value of a JSON text stands. A text that is not finished gives what can be read of it: people type.
 * @returns places by the path that `pathKey` writes
 */
export function placesOf(text: string): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  let at = 0;
  const blank = () => {
    while (at < text.length && /[\s,:]/.test(text[at] ?? '')) at += 1;
  };
  const quoted = (): string => {
    const from = at;
    at += 1;
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    at += 1;
    try {
      return String(JSON.parse(text.slice(from, at)));
    } catch {
      return text.slice(from + 1, at - 1);
    }
  };
  const value = (steps: Steps): void => {
    blank();
    const from = at;
    const first = text[at];
    if (first === '"') quoted();
    else if (first === '{' || first === '[') {
      at += 1;
      for (let index = 0; at < text.length; index += 1) {
        blank();
        const next = text[at];
        if (next === undefined) break;
        if (next === '}' || next === ']') {
          at += 1;
          break;
        }
        const before = at;
        if (first === '{') {
          const name = next === '"' ? quoted() : word();
          value([...steps, name]);
        } else value([...steps, index]);
        if (at === before) at += 1;
      }
    } else word();
    places.set(pathKey(steps), { from, to: at });
  };
  const word = (): string => {
    const from = at;
    while (at < text.length && !/[\s,:{}[\]"]/.test(text[at] ?? '')) at += 1;
    return text.slice(from, at);
  };
  value([]);
  return places;
}

/** `rules[2].when[0].op` and `/tasks/0/id` are the same kind of path here. */
function stepsOf(path: string): Steps {
  const digits = (part: string): string | number => (/^\d+$/.test(part) ? Number(part) : part);
  if (path.startsWith('/')) {
    return path
      .slice(1)
      .split('/')
      .map((part) => digits(part.replaceAll('~1', '/').replaceAll('~0', '~')));
  }
  return path
    .replace(/^\$\.?/, '')
    .split(/[.[\]]/)
    .filter((part) => part !== '')
    .map(digits);
}

const pathKey = (steps: Steps): string => JSON.stringify(steps);

/** Where a path of a finding stands; the nearest value around it where it is not there. */
export function placeOf(places: ReadonlyMap<string, Place>, path: string): Place | null {
  for (let steps = stepsOf(path); ; steps = steps.slice(0, -1)) {
    const found = places.get(pathKey(steps));
    if (found !== undefined) return found;
    if (steps.length === 0) return null;
  }
}

/** The text with one element of an array in another place; spaces and comments between elements stay where they are. */
export function moveElement(text: string, array: Steps, from: number, to: number): string {
  const places = placesOf(text);
  const slots: Place[] = [];
  for (let index = 0; ; index += 1) {
    const place = places.get(pathKey([...array, index]));
    if (place === undefined) break;
    slots.push(place);
  }
  if (slots[from] === undefined || slots[to] === undefined) return text;
  const order = slots.map(({ from: start, to: end }) => text.slice(start, end));
  const [moved = ''] = order.splice(from, 1);
  order.splice(to, 0, moved);
  let result = '';
  let last = 0;
  for (const [index, slot] of slots.entries()) {
    result += text.slice(last, slot.from) + (order[index] ?? '');
    last = slot.to;
  }
  return result + text.slice(last);
}
