/** The text of a file that was handed over in pieces. */
export async function textOf({ pieces }: { readonly pieces: AsyncIterable<string> }): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}
