import { stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { Called, OperatorCall } from './operator-calls.ts';
import { literalAts, type Mention, mentionsOf, mostMentions } from './mention.ts';

const mostBytes = 512 * 1024;

export type Attached =
  | { readonly ok: true; readonly text: string; readonly images: readonly string[] }
  /** One line for each mention that cannot be attached: nothing is sent. */
  | { readonly ok: false; readonly problems: readonly string[] };

export type AttachDeps = {
  readonly root: string;
  readonly call: (wanted: OperatorCall) => Promise<Called>;
  /** Why an image file, by its whole path, cannot be sent with the message; null where it can. Never rejects. */
  readonly image: (path: string) => Promise<string | null>;
};

/**
 * Reads what a message mentions, each by a call of its own through the gate, and puts it behind the text (10 §6.4); image
 * files go along as images. A word that names nothing is a word; a file elsewhere is one too, and the gate judges it as it
 * judges a model's call.
 */
export async function attachMentions(text: string, { root, call, image }: AttachDeps): Promise<Attached> {
  const named: Mention[] = [];
  for (const mention of mentionsOf(text)) if (await isThere(root, mention.path)) named.push(mention);
  if (named.length > mostMentions)
    return { ok: false, problems: [`${named.length} files are mentioned; at most ${mostMentions} can be`] };
  const parts: string[] = [];
  const images: string[] = [];
  const problems: string[] = [];
  let bytes = 0;
  for (const mention of named) {
    if (isImage(mention)) {
      const path = resolve(root, mention.path);
      const why = await image(path);
      if (why === null) images.push(path);
      else problems.push(`@${mention.path} was not attached: ${why}`);
      continue;
    }
    const called = await call(callFor(mention));
    if (!called.ok) problems.push(`@${mention.path} was not attached: ${called.why}`);
    else {
      bytes += Buffer.byteLength(called.text);
      parts.push(`[${mention.path}${linesOf(mention)}]\n${called.text}`);
    }
  }
  if (bytes > mostBytes) problems.push('the files that are mentioned have more than 512 KiB together');
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, text: [literalAts(text), ...parts].join('\n\n'), images: [...new Set(images)] };
}

/** By its name: what is none after all is told when it is looked at. */
const isImage = ({ path, lines, directory }: Mention): boolean => !directory && lines === null && isImageName(path);
export const isImageName = (path: string): boolean => /\.(?:png|jpe?g|gif|webp)$/i.test(path);

const linesOf = ({ lines }: Mention): string => (lines === null ? '' : `:${lines.from}-${lines.to}`);

/**
 * Whether a word names something; where links lead is the gate's to judge. Outside the workspace a bare directory is none:
 * `@/` and `@..` are words. Nobody means anything but a path by `~/x`, whose home the tools know.
 */
async function isThere(root: string, path: string): Promise<boolean> {
  if (/^~\/./.test(path)) return true;
  const whole = resolve(root, path);
  const found = await stat(whole).catch(() => null);
  return found !== null && (!relative(root, whole).startsWith('..') || found.isFile());
}

function callFor({ path, lines, directory }: Mention): OperatorCall {
  if (directory) return { tools: 'local_fs', tool: 'list_dir', args: { path } };
  if (lines === null) return { tools: 'local_fs', tool: 'read_file', args: { path } };
  return { tools: 'local_fs', tool: 'read_file_range', args: { path, start_line: lines.from, end_line: lines.to } };
}
