/**
 * A pattern in which `*` and `?` stand for any characters, `/` and a leading dot among them, as `find` and `git` take it.
 * Null for one with a class, of which nothing is said. Each match is quadratic at worst.
 */
export function wildcard(pattern: string): ((text: string) => boolean) | null {
  if (pattern.includes('[') || pattern.length > maxPattern) return null;
  const units = pattern.match(/\\.|./gs) ?? [];
  const any = units.map((unit) => (unit === '*' || unit === '?' ? unit : ''));
  const chars = units.map((unit) => (unit.length > 1 ? unit.slice(1) : unit));
  return (text) => {
    let at = 0;
    let unit = 0;
    let star = -1;
    let from = 0;
    while (at < text.length) {
      if (any[unit] === '*') {
        star = unit;
        from = at;
        unit += 1;
      } else if (unit < units.length && (any[unit] === '?' || chars[unit] === text.charAt(at))) {
        unit += 1;
        at += 1;
      } else if (star === -1) return false;
      else {
        unit = star + 1;
        from += 1;
        at = from;
      }
    }
    while (any[unit] === '*') unit += 1;
    return unit === units.length;
  };
}

const maxPattern = 1024;
