/** What is drawn over the body and has the keys (10 §9). Each kind has a file of its own. */
export type Overlay = { readonly kind: 'help'; readonly top: number; readonly filter: string };
