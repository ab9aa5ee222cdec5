/** Hands a file to the browser once all of it is there; what has come is in the browser's own store, not in the page's memory. */
export async function saveFile({
  file,
  content_type,
  pieces,
}: {
  readonly file: string;
  readonly content_type: string;
  readonly pieces: AsyncIterable<string>;
}): Promise<true> {
  const parts: Blob[] = [];
  for await (const piece of pieces) parts.push(new Blob([piece]));
  const url = URL.createObjectURL(new Blob(parts, { type: content_type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = file;
  link.click();
  URL.revokeObjectURL(url);
  return true;
}
