import type { Editing } from '../composer/editing.ts';

/** A single-line field of an overlay. `purpose` says what Enter does with it. */
export type Field = { readonly label: string; readonly purpose: string; readonly editing: Editing };
