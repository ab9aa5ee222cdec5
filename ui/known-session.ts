/** A session as it is on the screen: its name may be that of another one by now. */
export type KnownSession = { readonly id: string; readonly name: string };
