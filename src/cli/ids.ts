/** The ending of a whole id: the random part tells more than the time in front (06 §2.4.6). */
const least = 6;

/**
 * Ids as a terminal shows them: the kind and the shortest ending of at least six characters that no other of `known`
 * shares.
 */
export function shortIds(known: Iterable<string>): (id: string) => string {
  const bodies = [...new Set(known)].map((id) => id.slice(id.indexOf('_') + 1));
  return (id) => {
    const at = id.indexOf('_') + 1;
    const body = id.slice(at);
    for (let length = least; length < body.length; length += 1) {
      const ending = body.slice(-length);
      if (bodies.filter((other) => other.endsWith(ending)).length <= 1) return id.slice(0, at) + ending;
    }
    return id;
  };
}
