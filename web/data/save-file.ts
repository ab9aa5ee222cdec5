/** Hands a text to the browser as a file. */
export function saveFile({
  file,
  content_type,
  text,
}: {
  readonly file: string;
  readonly content_type: string;
  readonly text: string;
}): true {
  const url = URL.createObjectURL(new Blob([text], { type: content_type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = file;
  link.click();
  URL.revokeObjectURL(url);
  return true;
}
