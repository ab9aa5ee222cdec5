import type { Item } from '../../src/view/items.ts';

/** Some stored messages in a row, as items. */
export type Page = {
  readonly items: readonly Item[];
  /** Of its first message; null when there is none before it. */
  readonly before: number | null;
  /** Of its last message. */
  readonly after: number;
};

/** Which page is wanted: the one before or behind a message, or one to look at by itself. */
export type PageWish =
  | { readonly toward: 'older'; readonly before: number }
  | { readonly toward: 'newer'; readonly after: number; readonly until: number }
  | { readonly toward: 'place'; readonly place: Place; readonly until: number };

/** Where the view goes as soon as its page is read: the first line of the session, or an item. */
export type Place = { readonly item: string | null; readonly after: number };

/** A stretch of stored messages between which and the newest items nothing is in memory. */
export type Far = {
  readonly items: readonly Item[];
  /** Of its first message; null when there is none before it. */
  readonly before: number | null;
  /** Of its last message. */
  readonly after: number;
};
