/** How deep values from outside may be nested. SQLite reads JSON to twice this depth. */
export const mostLevels = 500;

/** Whether the brackets of a JSON text are nested deeper than so many levels. Uses no stack, so it takes any depth. */
export function isDeeperThan(text: string, levels: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '[' || char === '{') depth += 1;
    else if (char === ']' || char === '}') depth -= 1;
    if (depth > levels) return true;
  }
  return false;
}

/** The same of a value. It goes level by level: a function that calls itself would run out of stack. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  let level: readonly object[] = isObject(value) ? [value] : [];
  for (let depth = 0; depth < levels && level.length > 0; depth += 1) {
    const below: object[] = [];
    for (const one of level) {
      for (const member of Array.isArray(one) ? one : Object.values(one)) if (isObject(member)) below.push(member);
    }
    level = below;
  }
  return level.length > 0;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
