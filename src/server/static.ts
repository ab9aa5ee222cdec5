import { existsSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sirv from 'sirv';
import { errorReply, refuse } from './error-body.ts';
import { isPage, pathOf } from './guard.ts';
import { respond } from './respond.ts';

/** Stands in the page for the nonce of a reply. */
const noncePlace = '__NONCE__';
const missing = { status: 404, text: 'Not found.\n', type: 'text/plain; charset=utf-8' } as const;

/**
 * The built application and nothing else (09 §9). The names of its files are read when its page is read, so that no path of a
 * request is ever looked up on the disk.
 * @param root directory URL of the build; it may be missing
 * @param replaced called once when another build lies there: the program around it is another one, too
 */
export function createStatic(root: URL, replaced: () => void) {
  const directory = fileURLToPath(root);
  const buildOf = createBuilds(directory, replaced);
  let { page, files } = buildOf();

  return (
    request: IncomingMessage,
    response: ServerResponse,
    site: { readonly id: string; readonly nonce: string },
  ): void => {
    const path = pathOf(request.url ?? '');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      respond(request, response, errorReply(refuse('method_not_allowed', 'Pages are read only.'), site.id));
      return;
    }
    if (isPage(path) || path === '/index.html') {
      ({ page, files } = buildOf());
      const text = page?.replaceAll(noncePlace, site.nonce);
      respond(
        request,
        response,
        text === undefined ? missing : { status: 200, text, type: 'text/html; charset=utf-8' },
      );
      return;
    }
    // A part of a file would be cut by what a client says of it.
    delete request.headers.range;
    const decoded = decodeURIComponent(path);
    const named = /\/\.|\/\/|\.map$/.test(decoded) ? null : join(directory, decoded);
    if (files === null || named === null || !existsSync(named)) {
      respond(request, response, missing);
      return;
    }
    response.setHeader(
      'Cache-Control',
      path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-store',
    );
    // A file that goes away under our hands ends this reply, not the server.
    response.once('pipe', (source) => source.once('error', () => response.destroy()));
    files(request, response, () => {
      response.setHeader('Cache-Control', 'no-store');
      respond(request, response, missing);
    });
  };
}

type Build = { readonly page: string | null; readonly files: ReturnType<typeof sirv> | null };

/** The build as it lies there: a page names its assets by their content, so page and names are of one build. */
function createBuilds(directory: string, replaced: () => void): () => Build {
  const path = join(directory, 'index.html');
  let known: (Build & { readonly mark: string }) | null = null;
  let told = false;
  return () => {
    const stats = statSync(path, { throwIfNoEntry: false });
    const mark = stats === undefined ? '' : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
    if (known?.mark === mark) return known;
    if (known !== null && !told) replaced();
    told ||= known !== null;
    const build = readBuild(directory, path);
    known = { ...build, mark: build.page === null ? '' : mark };
    return known;
  };
}

function readBuild(directory: string, path: string): Build {
  try {
    const page = readFileSync(path, 'utf8');
    return {
      page,
      files: sirv(directory, { etag: true, gzip: true, brotli: true, dotfiles: false, extensions: [] }),
    };
  } catch {
    // There is none, or it is being taken away just now.
    return { page: null, files: null };
  }
}
