/** What a global pattern finds in a text, each time its first group that took part; at most so many. */
export function firstGroups(pattern: RegExp, text: string, most: number): readonly string[] {
  const found: string[] = [];
  for (const [, ...groups] of text.matchAll(pattern)) {
    found.push(groups.find((group) => group !== undefined) ?? '');
    if (found.length >= most) break;
  }
  return found;
}
