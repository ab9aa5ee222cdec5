import type { FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { linksMade } from './links-made.ts';
import { placesOfWord, type ReadPath } from './named-paths.ts';

/** Links that lead to each other are followed so far, and most of what is looked at. */
const maxRounds = 4;
const maxLooks = 65_536;

/** What is written at or below a link that the line makes itself is written where that leads, too. */
export function throughLinks(
  texts: readonly string[],
  commands: readonly FoundCommand[],
  host: PolicyHost,
  read: ReadPath,
): readonly string[] {
  const links = commands.flatMap((command) =>
    linksMade(command).flatMap(({ at, to }) => {
      const targets = placesOfWord(to, command, host);
      return placesOfWord(at, command, host).map((place) => ({ place: read(place).lexical, targets }));
    }),
  );
  if (links.length === 0) return texts;
  const found = new Set(texts);
  let last = texts;
  for (let round = 0; round < maxRounds && last.length > 0; round += 1) {
    // Too much to be looked through may lead anywhere.
    if (links.length * last.length > maxLooks) return [...found, '/'];
    last = last
      .flatMap((text) => {
        const { lexical } = read(text);
        return links.flatMap(({ place, targets }) =>
          lexical === place || lexical.startsWith(`${place}/`)
            ? targets.map((target) => `${target}${lexical.slice(place.length)}`)
            : [],
        );
      })
      .filter((text) => text !== '' && !text.includes('\0') && !found.has(text));
    for (const text of last) found.add(text);
  }
  return [...found];
}
