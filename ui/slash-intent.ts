/** What commands of the composer change for the turns that follow, and what they write (10 §6.5). */
export type SlashIntent =
  | { readonly do: 'think'; readonly level: string }
  | { readonly do: 'shell'; readonly on: boolean }
  | { readonly do: 'trim'; readonly messages: number }
  | { readonly do: 'chain'; readonly name: string }
  /** `save`: asks whether it is to be kept. */
  | { readonly do: 'theme'; readonly name: string; readonly save: boolean }
  | { readonly do: 'keep-theme'; readonly name: string }
  /** Attaches a file to the next message. */
  | { readonly do: 'image'; readonly path: string }
  /** Reads `keys.json` again. */
  | { readonly do: 'reload-keys' }
  | { readonly do: 'notify'; readonly way: 'auto' | 'osc' | 'bell' | 'off' }
  | { readonly do: 'compact'; readonly keep: number }
  | { readonly do: 'fork-summary'; readonly to: string | null; readonly at: number | null; readonly keep: number }
  | {
      readonly do: 'export';
      readonly format: 'md' | 'json';
      /** Null: named like the session, where the program was started. */
      readonly path: string | null;
      readonly force: boolean;
      /** A session that is not the open one. */
      readonly of?: { readonly id: string; readonly name: string };
    }
  /** Shows what undoing a run would do, and asks. Null: the newest of the session. */
  | { readonly do: 'undo'; readonly run_id: string | null }
  | { readonly do: 'undo-shown'; readonly run_id: string }
  /** A run with everything that is kept of it, as JSON, where the program was started. */
  | { readonly do: 'export-run'; readonly run_id: string; readonly force: boolean };

/** What a command answers that is about a session. */
export const noSession = 'there is no session yet: the first message makes one';
