/**
 * Which runs of a chat are shown by their events, and which by what is stored of them: each is shown once, whichever way it
 * came, and however often the chat is read.
 */
export function createFollowedRuns() {
  let reading = 0;
  /** Null where nothing is followed, or its end was heard. */
  let followed: string | null = null;
  /** Runs whose events stand behind what was read. */
  let live = new Set<string>();
  /** Runs of which the whole is shown: they were read as stored, or heard to their end behind that. */
  let whole = new Set<string | null>();

  return {
    /** How often the chat was read with nothing of a run left that goes on. */
    reading: () => reading,

    /**
     * The chat was read. A run that is shown from its first event on stays as it stands, and what was read is put before
     * it: nothing is gone for a moment.
     * @param run what is followed from now on
     * @param stored the runs that were read as stored
     * @returns whether it goes on as it is shown; otherwise its events are heard anew, from the first one on
     */
    read(run: string | null, stored: readonly (string | null)[]): boolean {
      whole = new Set(stored);
      if (run !== null && run === followed && live.size === 1) return true;
      reading += 1;
      followed = run;
      live = new Set(run === null ? [] : [run]);
      return false;
    },

    /** A run of the chat has begun, or goes on: its events are shown behind what is there. */
    follow(run: string): void {
      followed = run;
      live.add(run);
    },

    /** Whether events of a run would come on top of what is shown of it: it is over already, or goes on again. */
    isWhole: (run: string): boolean => whole.has(run),

    /**
     * Whether another run is followed. A chat has one at a time: that one is over, and what it said at last was not heard,
     * as in a hidden page.
     */
    followsOther: (run: string): boolean => followed !== null && followed !== run,

    /** The end of a run was heard, by who has followed it since that reading. */
    ended(run: string, since: number): void {
      whole.add(run);
      if (since === reading && run === followed) followed = null;
    },
  };
}
