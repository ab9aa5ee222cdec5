export type Size = { readonly columns: number; readonly rows: number };
